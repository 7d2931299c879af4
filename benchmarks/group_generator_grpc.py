#!/usr/bin/python3
"""The exchange of group_generator_bench through Python gRPC, the published transport: bytes in, bytes out.

Usage: group_generator_grpc.py CONNECTIONS SECONDS REQUEST_BYTES ANSWER_BYTES
One server process, two client processes that share the connections, a channel and a thread for each connection. Prints
requests/s, p50 and p99 in microseconds. Exit code 77: grpcio is not installed.
"""

import multiprocessing
import sys
import threading
import time
from concurrent import futures

try:
    import grpc
except ImportError:
    sys.exit(77)

METHOD = "/cohort.GroupGenerator/Ready"
CLIENTS = 2


def serve(pipe, answer_bytes):
    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(lambda request, context: bytes(answer_bytes))

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16), handlers=[Handler()])
    pipe.send(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    pipe.recv()
    server.stop(None)


def ask(port, seconds, request_bytes, latencies):
    request = bytes(request_bytes)
    options = [("grpc.use_local_subchannel_pool", 1)]  # a connection of its own
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        call = channel.unary_unary(METHOD)
        for _ in range(50):
            call(request, timeout=10)
        end = time.monotonic() + seconds
        while (before := time.monotonic()) < end:
            call(request, timeout=10)
            latencies.append(time.monotonic() - before)


def load(pipe, port, connections, seconds, request_bytes):
    latencies = [[] for _ in range(connections)]
    threads = [threading.Thread(target=ask, args=(port, seconds, request_bytes, own)) for own in latencies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send([latency for own in latencies for latency in own])


def main():
    connections, seconds, request_bytes, answer_bytes = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there, answer_bytes))
    server.start()
    port = here.recv()
    pipes = [context.Pipe() for _ in range(CLIENTS)]
    clients = [context.Process(target=load, args=(end, port, connections // CLIENTS, seconds, request_bytes)) for _, end in pipes]
    for client in clients:
        client.start()
    latencies = sorted(latency for pipe, _ in pipes for latency in pipe.recv())
    for client in clients:
        client.join(10)
    here.send("stop")
    server.join(10)
    print(len(latencies) / seconds, latencies[len(latencies) // 2] * 1e6, latencies[int(0.99 * (len(latencies) - 1))] * 1e6)


if __name__ == "__main__":
    main()

"""The same training in PyTorch: from equal parameters and batches the loss curves agree to 1e-4. Skipped without PyTorch."""

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("COHORT_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAM = BUILD / "tests" / "training" / "training_curve"
STEPS = 200
# Where rounding errors grow little: at 0.05 the CNN's choices of maxima differ after 60 steps, and with them the gradients.
RATES = {"softmax": 0.05, "mlp": 0.05, "cnn": 0.01}
SIDE, BATCH = 12, 32

torch = pytest.importorskip("torch", reason="no PyTorch; apt-get install python3-torch")
numpy = pytest.importorskip("numpy")
nn = torch.nn

MODELS = {
    "softmax": lambda: nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 10)),
    "mlp": lambda: nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 10)),
    "cnn": lambda: nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(12 * 9, 10)),
}


def ours(model, folder):
    subprocess.run([PROGRAM, model, str(STEPS), str(RATES[model]), folder], check=True, timeout=100)
    read = lambda name, kind: torch.from_numpy(numpy.fromfile(folder / name, kind))
    return (read("parameters.f32", "float32"), read("inputs.f32", "float32").view(STEPS, BATCH, 1, SIDE, SIDE),
            read("labels.u8", "uint8").view(STEPS, BATCH).long(), numpy.fromfile(folder / "losses.f64"))


def losses_of_pytorch(model, parameters, inputs, labels):
    net = MODELS[model]()
    nn.utils.vector_to_parameters(parameters, net.parameters())
    optimiser = torch.optim.SGD(net.parameters(), lr=RATES[model], momentum=0.9, weight_decay=1e-3)
    losses = []
    for x, y in zip(inputs, labels):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.skipif(not PROGRAM.exists(), reason="training_curve is not built")
@pytest.mark.parametrize("model", MODELS)
def test_the_loss_curve_is_that_of_pytorch(model, tmp_path):
    torch.set_num_threads(1)
    parameters, inputs, labels, losses = ours(model, tmp_path)
    theirs = losses_of_pytorch(model, parameters, inputs, labels)
    assert losses[-20:].mean() < 0.95 * losses[:20].mean(), "nothing was learnt"
    assert abs(losses - theirs).max() < 1e-4

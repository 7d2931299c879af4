// Element by element, at the vector width of the machine the program runs on.
#pragma once

// For a function that is one such loop: compiled a second time for AVX2, chosen when the program
// starts. Products and sums are not contracted (meson.build), so the results are the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define COHORT_WIDE_LOOP [[gnu::target_clones("avx2", "default")]]
#else
#define COHORT_WIDE_LOOP
#endif

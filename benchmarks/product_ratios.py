#!/usr/bin/env python3
"""Products of two fed float32 matrices: our time over that of OpenBLAS, as NumPy has it, on one thread.

    taskset -c 1 python3 benchmarks/product_ratios.py GRAPH_RUN [--isa avx2] [--rounds N] [--seconds S] [SIZE...]

In each round both multiply the same square matrices for S seconds, one after the other. The table gives the shortest times and the
least, the median and the largest of the rounds' ratios. `--isa avx2` limits both to AVX2. Ours is a whole run of `graph_run bench`.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PEER = """
import sys, time
import numpy as np
n, seconds = int(sys.argv[1]), float(sys.argv[2])
a, b = (np.random.default_rng(i).random((n, n), np.float32) for i in (1, 2))
out, best, end = a @ b, float("inf"), time.perf_counter() + seconds
while time.perf_counter() < end:
    start = time.perf_counter()
    np.matmul(a, b, out=out)
    best = min(best, time.perf_counter() - start)
print(best * 1e6)
"""


def graph(n):
    shape = f"shape {{ dim {{ size: {n} }} dim {{ size: {n} }} }}"
    feeds = "".join(f"node {{ name: '{x}' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }} "
                    f"attr {{ key: 'shape' value {{ {shape} }} }} }}\n" for x in "ab")
    return feeds + "node { name: 'y' op: 'MatMul' input: ['a', 'b'] attr { key: 'T' value { type: DT_FLOAT } } }\n"


def output_of(command, environment):
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph_run")
    parser.add_argument("sizes", nargs="*", type=int, default=[256, 512, 1024, 2048])
    parser.add_argument("--isa", choices=["avx2", "avx512"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    args = parser.parse_args()
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    if args.isa:
        environment |= {"TENON_ISA": args.isa, "OPENBLAS_CORETYPE": {"avx2": "Haswell", "avx512": "SkylakeX"}[args.isa]}
    print(f"{'size':>5} {'Tenon us':>10} {'OpenBLAS us':>12}  ratio")
    for n in args.sizes:
        ours, theirs = [], []
        with tempfile.NamedTemporaryFile("w", suffix=".pbtxt") as file:
            file.write(graph(n))
            file.flush()
            feeds = [f for i, x in enumerate("ab", 1) for f in ("--input", f"{x}={n}x{n}xf32=random(seed={i})")]
            command = [args.graph_run, "bench", file.name, *feeds, "--threads", "1", "--seconds", str(args.seconds), "--json"]
            for _ in range(args.rounds):
                ours.append(json.loads(output_of(command, environment))["min_us"])
                theirs.append(float(output_of([sys.executable, "-c", PEER, str(n), str(args.seconds)], environment)))
        ratios = sorted(a / b for a, b in zip(ours, theirs))
        print(f"{n:5} {min(ours):10.0f} {min(theirs):12.0f}  {ratios[0]:.2f} {statistics.median(ratios):.2f} {ratios[-1]:.2f}")


main()

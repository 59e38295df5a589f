#!/usr/bin/env python3
"""What an op costs in other types: its time as a multiple of the time in float32, on one thread.

    taskset -c 1 python3 benchmarks/type_ratios.py [--graph-run PATH] [--rounds N] [--seconds S] [OP...]

In each round `graph_run bench` runs the op in every type for S seconds, one type after the other, on the same shapes; a round
gives the ratio of the shortest runs, and the table their median over the rounds. "-": no kernel for the type. All operands are fed.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

TYPES = {"float32": "DT_FLOAT", "half": "DT_HALF", "bfloat16": "DT_BFLOAT16", "double": "DT_DOUBLE", "int32": "DT_INT32",
         "complex64": "DT_COMPLEX64"}
WINDOW = ("attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } } attr { key: 'padding' value { s: 'SAME' } }")
POOL = ("attr { key: 'ksize' value { list { i: [1, 2, 2, 1] } } } attr { key: 'strides' value { list { i: [1, 2, 2, 1] } } } "
        "attr { key: 'padding' value { s: 'SAME' } }")
# By name: the op, the shapes of its operands, its attributes beside T.
CASES = {
    "MatMul 256": ("MatMul", [[256, 256], [256, 256]], ""),
    "MatMul 1024": ("MatMul", [[1024, 1024], [1024, 1024]], ""),
    "Conv2D 3x3": ("Conv2D", [[1, 56, 56, 64], [3, 3, 64, 64]], WINDOW),
    "depthwise 3x3": ("DepthwiseConv2dNative", [[1, 56, 56, 128], [3, 3, 128, 1]], WINDOW),
    "MaxPool 2x2": ("MaxPool", [[1, 112, 112, 64]], POOL),
    "AvgPool 2x2": ("AvgPool", [[1, 112, 112, 64]], POOL),
    "Softmax": ("Softmax", [[256, 1024]], ""),
    "AddV2": ("AddV2", [[1000000], [1000000]], ""),
    "Exp": ("Exp", [[1000000]], ""),
    "Tanh": ("Tanh", [[1000000]], ""),
}


def graph(op, shapes, attrs, dtype):
    text = ""
    for i, shape in enumerate(shapes):
        dims = " ".join(f"dim {{ size: {size} }}" for size in shape)
        text += (f"node {{ name: 'x{i}' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: {dtype} }} }} "
                 f"attr {{ key: 'shape' value {{ shape {{ {dims} }} }} }} }}\n")
    inputs = " ".join(f"input: 'x{i}'" for i in range(len(shapes)))
    return text + f"node {{ name: 'y' op: '{op}' {inputs} attr {{ key: 'T' value {{ type: {dtype} }} }} {attrs} }}\n"


def shortest(command):
    """Microseconds; None where the op has no kernel for the type."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["min_us"] if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", default=list(CASES), metavar="OP")
    parser.add_argument("--graph-run", default="build/release/bin/graph_run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    args = parser.parse_args()
    print(f"{'':14} {'float32 us':>11} " + " ".join(f"{name:>9}" for name in list(TYPES)[1:]))
    with tempfile.TemporaryDirectory() as folder:
        for name in args.ops:
            op, shapes, attrs = CASES[name]
            times = {}
            for dtype, spec in TYPES.items():
                path = os.path.join(folder, dtype + ".pbtxt")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(graph(op, shapes, attrs, spec))
            for _ in range(args.rounds):
                for dtype in TYPES:
                    command = [args.graph_run, "bench", os.path.join(folder, dtype + ".pbtxt"), "--json", "--threads", "1",
                               "--seconds", str(args.seconds), "--output", "y"]
                    for i in range(len(shapes)):
                        command += ["--input", f"x{i}=ones" if dtype == "complex64" else f"x{i}=random(seed={i + 1})"]
                    times.setdefault(dtype, []).append(shortest(command))
            base = times.pop("float32")
            shown = [f"{'-':>9}" if None in own else f"{statistics.median(t / b for t, b in zip(own, base)):9.1f}"
                     for own in times.values()]
            print(f"{name:14} {min(base):11.1f} " + " ".join(shown), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""From a file's bytes to the first result, for large graphs: time of each stage and peak memory.

    benchmarks/first_result.py [GRAPH_RUN] [--sizes 10000,1000000] [--files GRAPH.pb ...]

Least of three runs on one thread, in microseconds per node: import (edges, types and shapes checked) of the binary form and of
the text that Tenon writes, then, with the optimizer off and on, everything up to the first result. Graphs are the random one of
optimizer_scale.py, and the given files, of which all inputs must be fed by --input.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def run(command):
    """The JSON document, and the peak memory of the process in MB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: {out.decode()}")
    return json.loads(out), usage.ru_maxrss / 1024


def measure(graph_run, path, flags):
    best, memory = {}, 0
    for _ in range(3):
        document, peak = run([graph_run, "run", path, "--threads", "1", "--json", *flags])
        for stage, ms in document["times_ms"].items():
            best[stage] = min(best.get(stage, ms), ms)
        memory = max(memory, peak)
        nodes = document["nodes_imported"]
    return {stage: 1000 * ms / nodes for stage, ms in best.items()}, memory, nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph_run", nargs="?", default="build/release/bin/graph_run")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--input", action="append", default=["x=8x8xf32=random(seed=1)"])
    args = parser.parse_args()
    flags = [flag for given in args.input for flag in ("--input", given)]
    with tempfile.TemporaryDirectory() as folder:
        files = list(args.files)
        for size in filter(None, args.sizes.split(",")):
            files.append(os.path.join(folder, f"random_{size}.pb"))
            scale = os.path.join(os.path.dirname(__file__), "optimizer_scale.py")
            subprocess.run([sys.executable, scale, "--make", "random", size, files[-1][:-3]], check=True)
        print(f"{'graph':24} {'nodes':>8} {'import':>7} {'text':>7} {'B/node':>7} | "
              f"{'off: all':>8} {'MB':>6} | {'on: all':>8} {'optimize':>8} {'MB':>6}")
        for path in files:
            text = os.path.join(folder, "graph.pbtxt")
            subprocess.run([args.graph_run, "opt", path, "--opt-level", "0", "-o", text, "--quiet"],
                           check=True, stdout=subprocess.DEVNULL)
            off, off_mb, nodes = measure(args.graph_run, path, [*flags, "--opt-level", "0"])
            on, on_mb, _ = measure(args.graph_run, path, flags)
            from_text, _, _ = measure(args.graph_run, text, [*flags, "--opt-level", "0"])
            print(f"{os.path.basename(path):24} {nodes:8} {off['load']:7.2f} {from_text['load']:7.2f} "
                  f"{os.path.getsize(text) / nodes:7.0f} | {sum(off.values()):8.2f} {off_mb:6.0f} | "
                  f"{sum(on.values()):8.2f} {on['optimize']:8.2f} {on_mb:6.0f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How long it takes to add gradients to a graph, beside TensorFlow's Python.

    benchmarks/gradient_times.py [GRAPH_RUN] [MODEL ...]

For each golden model: the gradients of its first output with respect to all float constants, 300 at most; the least of
five times in milliseconds, and the nodes that are added. TensorFlow is measured in the same run where this Python has
it. Then chains of 10,000 to 1,000,000 nodes, in microseconds per node.
"""
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

MODELS = ["mlp", "dlrm", "mobilenet_v2", "resnet50", "bert_tiny", "bert_base", "gpt2_small_64"]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def document(args):
    done = subprocess.run(args + ["--json"], capture_output=True, text=True)
    return json.loads(done.stdout), done.stderr


def ours(graph_run, graph, of, wrt, out):
    """Least milliseconds of five, and the nodes that are added."""
    docs = [document([graph_run, "grad", graph, "--of", of, "--wrt", ",".join(wrt), "-o", out]) for _ in range(5)]
    if docs[0][0]["status"]["code"] != "OK":
        raise RuntimeError(docs[0][1].strip()[:200])
    return (min(d["times_ms"]["gradients"] for d, _ in docs), docs[0][0]["nodes_after"] - docs[0][0]["nodes_before"])


def theirs(graph, of, wrt):
    """Milliseconds of tf.gradients, and the nodes; None where TensorFlow is missing."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ImportError:
        return None
    v1 = tf.compat.v1
    definition = v1.GraphDef.FromString(pathlib.Path(graph).read_bytes())
    with tf.Graph().as_default() as g:
        tf.import_graph_def(definition, name="")
        tensor = lambda name: g.get_tensor_by_name(name if ":" in name else name + ":0")
        before, start = len(g.get_operations()), time.perf_counter()
        v1.gradients(tensor(of), [tensor(w) for w in wrt])
        return (time.perf_counter() - start) * 1e3, len(g.get_operations()) - before


def float_constants(graph_run, graph, work):
    text = os.path.join(work, "text.pbtxt")
    subprocess.run([graph_run, "opt", graph, "--opt-level", "0", "-o", text], check=True, capture_output=True)
    names, name, op = [], "", ""
    for line in open(text, encoding="utf-8"):
        if m := re.match(r'  name: "(.*)"', line):
            name = m[1]
        elif m := re.match(r'  op: "(.*)"', line):
            op = m[1]
        elif "type: DT_FLOAT" in line and op == "Const" and (not names or names[-1] != name):
            names.append(name)
    return names[:300]


def chain(nodes, path):
    """y = -(-(... x)), as text."""
    with open(path, "w", encoding="utf-8") as f:
        f.write("versions { producer: 2000 }\nnode { name: 'n0' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
                "attr { key: 'shape' value { shape { } } } }\n")
        for i in range(1, nodes):
            f.write(f"node {{ name: 'n{i}' op: 'Exp' input: 'n{i - 1}' attr {{ key: 'T' value {{ type: DT_FLOAT }} }} }}\n")


def main():
    args = sys.argv[1:]
    graph_run = args.pop(0) if args and os.access(args[0], os.X_OK) else str(ROOT / "build/release/bin/graph_run")
    print(f"{'model':16} {'weights':>8} {'ms':>9} {'nodes':>7} {'tensorflow ms':>14} {'nodes':>7}")
    with tempfile.TemporaryDirectory() as work:
        graph, out = os.path.join(work, "graph.pb"), os.path.join(work, "out.pb")
        for model in args or MODELS:
            pathlib.Path(graph).write_bytes(lzma.open(ROOT / f"tests/golden/models/{model}/graph.pb.xz").read())
            of = document([graph_run, "show", graph])[0]["outputs"][0]["name"]
            wrt = float_constants(graph_run, graph, work)
            ms, nodes = ours(graph_run, graph, of, wrt, out)
            peer = theirs(graph, of, wrt)
            shown = f"{peer[0]:14.0f} {peer[1]:7}" if peer else f"{'-':>14} {'-':>7}"
            print(f"{model:16} {len(wrt):8} {ms:9.2f} {nodes:7} {shown}", flush=True)
        if not args:
            for size in (10_000, 100_000, 1_000_000):
                chain(size, graph)
                ms, _ = ours(graph_run, graph, f"n{size - 1}", ["n0"], out)
                print(f"chain of {size:9} {ms * 1e3 / size:8.2f} us a node", flush=True)


if __name__ == "__main__":
    main()

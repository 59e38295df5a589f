#!/usr/bin/env python3
"""Ops that read memory or compute element by element, by type: our time beside TensorFlow's, on one thread.

    taskset -c 1 python3 benchmarks/element_ratios.py [--graph-run PATH] [--rounds N] [--seconds S] [NAME...]

Needs the package tensorflow. In each round both run the same op on the same values for S seconds, one after the other. The table gives
the shortest runs: nanoseconds for each element of the largest operand or result, the GB/s of all operands and results together,
and the median over the rounds of our time over TensorFlow's. A NAME runs the cases whose names contain it. Ours is a whole run of
`graph_run bench`, with the session, that hands out nothing but a scalar; from TensorFlow's runs the time of a run that computes nothing
is taken off, and it gets its operands as constants, with its optimizer off. "-": TensorFlow has no kernel for the type.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

from timing import shortest

tf.compat.v1.disable_eager_execution()
RANDOM = np.random.default_rng(1)
MANY = 100_000  # short runs, so that one of them meets a quiet moment
WINDOW = {"strides": [1, 1, 1, 1], "padding": "SAME"}
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


def values(dtype, *shape):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return RANDOM.random(shape) < 0.5
    if dtype.kind in "iu":
        return RANDOM.integers(1, 100, shape).astype(dtype)
    return RANDOM.uniform(0.1, 0.9, shape).astype(dtype)


def indices(limit, *shape):
    return RANDOM.integers(0, limit, shape).astype(np.int32)


def cases():
    """Yields name, op of tf.raw_ops, operands by name, attributes."""
    for dtype in ("float32", "float64", "int32", "int64", "int8"):
        x, y = values(dtype, MANY), values(dtype, MANY)
        for op in ("FloorMod", "FloorDiv"):
            yield f"{op} {dtype}", op, {"x": x, "y": y}, {}
    for op in ("Tanh", "Exp", "Log", "Sigmoid", "Erf", "Erfinv", "Lgamma", "Digamma", "Sin", "Softplus"):
        for dtype in ("float32", "float64", "float16"):
            operand = "features" if op == "Softplus" else "x"
            yield f"{op} {dtype}", op, {operand: values(dtype, MANY)}, {}
    for dtype in ("float32", "float64"):
        yield f"Pow {dtype}", "Pow", {"x": values(dtype, MANY), "y": values(dtype, MANY)}, {}
    for dtype in ("float32", "int32"):
        yield f"TopKV2 100x1000 10 {dtype}", "TopKV2", {"input": indices(1 << 30, 100, 1000).astype(dtype), "k": 10}, {}
        yield f"TopKV2 100000 100 {dtype}", "TopKV2", {"input": indices(1 << 30, MANY).astype(dtype), "k": 100}, {}
    for dtype in ("bool", "float32"):
        yield f"Where 100000 {dtype}", "Where", {"condition": values("bool", MANY).astype(dtype)}, {}
        yield f"Where 100x1000 {dtype}", "Where", {"condition": values("bool", 100, 1000).astype(dtype)}, {}
    for dtype in ("int32", "int64", "float32"):
        yield f"Unique {dtype}", "Unique", {"x": indices(1000, MANY).astype(dtype)}, {}
    for dtype in ("float32", "float64", "int32"):
        rows, ids = values(dtype, 10_000, 16), np.sort(indices(1000, 10_000))
        yield f"SegmentSum {dtype}", "SegmentSum", {"data": rows, "segment_ids": ids}, {}
        yield f"SegmentMax {dtype}", "SegmentMax", {"data": rows, "segment_ids": ids}, {}
        yield (f"UnsortedSegmentSum {dtype}", "UnsortedSegmentSum",
               {"data": rows, "segment_ids": indices(1000, 10_000), "num_segments": 1000}, {})
        if dtype != "int32":
            yield (f"SparseSegmentSum {dtype}", "SparseSegmentSum",
                   {"data": rows, "indices": indices(10_000, 10_000), "segment_ids": ids}, {})
        yield f"ScatterNd {dtype}", "ScatterNd", {"indices": indices(1000, 10_000, 1), "updates": rows, "shape": [1000, 16]}, {}
        yield (f"TensorScatterUpdate {dtype}", "TensorScatterUpdate",
               {"tensor": rows, "indices": indices(10_000, 1000, 1), "updates": rows[:1000]}, {})
        yield f"GatherNd {dtype}", "GatherNd", {"params": rows, "indices": indices(10_000, 10_000, 1)}, {}
        yield (f"DynamicStitch {dtype}", "DynamicStitch",
               {"indices": [np.arange(0, 10_000, 2, np.int32), np.arange(1, 10_000, 2, np.int32)],
                "data": [rows[:5000], rows[5000:]]}, {})
        yield (f"DynamicPartition {dtype}", "DynamicPartition", {"data": rows, "partitions": indices(4, 10_000)},
               {"num_partitions": 4})
        yield f"Cumsum {dtype}", "Cumsum", {"x": values(dtype, 100, 1000), "axis": 1}, {}
        yield f"ArgMax {dtype}", "ArgMax", {"input": values(dtype, 100, 1000), "dimension": 1}, {}
        yield f"Sum rows {dtype}", "Sum", {"input": values(dtype, 100, 1000), "axis": 1}, {}
        yield f"Sum columns {dtype}", "Sum", {"input": values(dtype, 100, 1000), "axis": 0}, {}
        yield f"SelectV2 {dtype}", "SelectV2", {"condition": values("bool", MANY), "t": values(dtype, MANY),
                                                "e": values(dtype, MANY)}, {}
        yield f"ReverseV2 {dtype}", "ReverseV2", {"tensor": values(dtype, 100, 1000), "axis": [1]}, {}
        yield f"LowerBound {dtype}", "LowerBound", {"sorted_inputs": np.sort(values(dtype, 1, 1000)), "values": values(dtype, 1, 10_000)}, {}
    corners = RANDOM.random((2000, 2))
    boxes = np.concatenate([corners, corners + 0.1], 1).astype(np.float32)
    yield ("NonMaxSuppressionV3 2000", "NonMaxSuppressionV3",
           {"boxes": boxes, "scores": values("float32", 2000), "max_output_size": 500, "iou_threshold": np.float32(0.5),
            "score_threshold": np.float32(0)}, {})
    for dtype in ("float32", "float16", "float64", "int32", "int8"):
        x = values(dtype, 1, 112, 112, 64)
        yield f"MaxPool {dtype}", "MaxPool", {"input": x}, POOL
        if dtype[0] == "f":
            yield f"AvgPool {dtype}", "AvgPool", {"value": x}, POOL
    for dtype in ("float32", "float16", "float64"):
        x, g = values(dtype, 1, 56, 56, 128), values(dtype, 1, 56, 56, 64)
        yield f"DepthwiseConv2dNative {dtype}", "DepthwiseConv2dNative", {"input": x, "filter": values(dtype, 3, 3, 128, 1)}, WINDOW
        yield (f"Conv2DBackpropFilter {dtype}", "Conv2DBackpropFilter",
               {"input": x[..., :64], "filter_sizes": [3, 3, 64, 64], "out_backprop": g}, WINDOW)
    x = values("uint8", 1024, 1024)
    limits = {"min_a": np.float32(-1), "max_a": np.float32(1), "min_b": np.float32(-1), "max_b": np.float32(1)}
    yield "QuantizedMatMul 1024 quint8", "QuantizedMatMul", {"a": ("quint8", x), "b": ("quint8", x), **limits}, {"Toutput": tf.qint32}
    yield "MatMul 1024 float32", "MatMul", {"a": x.astype(np.float32), "b": x.astype(np.float32)}, {}


def constant(value):
    if isinstance(value, tuple):  # a quantized type and its bytes
        return tf.bitcast(tf.constant(value[1]), getattr(tf, value[0]))
    return tf.constant(value)


class Ours:
    def __init__(self, program, folder, op, operands, attrs):
        self.command = [program, "bench", f"{folder}/case.pb", "--output", "out", "--opt-level", "0", "--threads", "1", "--json"]

        def operand(name, value):
            if isinstance(value, list) and isinstance(value[0], np.ndarray):
                return [operand(f"{name}{i}", v) for i, v in enumerate(value)]
            if isinstance(value, tuple):
                return tf.bitcast(operand(name, value[1]), getattr(tf, value[0]))
            if not isinstance(value, np.ndarray) or value.size < 1000:
                return constant(value)
            node = tf.compat.v1.placeholder(value.dtype, value.shape, name)
            np.save(f"{folder}/{name}.npy", value)
            self.command.extend(["--input", f"{name}=@{folder}/{name}.npy"])
            return node

        with tf.Graph().as_default() as graph:
            node = getattr(tf.raw_ops, op)(**{name: operand(name, value) for name, value in operands.items()}, **attrs)
            with tf.control_dependencies([tf.nest.flatten(node)[0].op]):  # so that the result stays inside
                tf.identity(tf.constant(0.0), "out")
        with open(self.command[2], "wb") as f:
            f.write(graph.as_graph_def().SerializeToString())

    def seconds(self, budget):
        done = subprocess.run(self.command + ["--seconds", str(budget)], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["min_us"] * 1e-6 if done.returncode == 0 else None


class TensorFlow:
    def __init__(self, op, operands, attrs):
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=-1)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        config.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"
        with tf.Graph().as_default() as graph:
            inputs = {name: [constant(v) for v in value] if isinstance(value, list) and isinstance(value[0], np.ndarray)
                      else constant(value) for name, value in operands.items()}
            outputs = tf.nest.flatten(getattr(tf.raw_ops, op)(**inputs, **attrs))
            nothing = tf.no_op()
        session = tf.compat.v1.Session(graph=graph, config=config)
        flat = tf.nest.flatten(list(inputs.values()))
        sizes = [(t.shape.num_elements(), t.dtype.size) for t in flat]
        try:
            self.overhead = shortest(session.make_callable(nothing), 0.2)
            self.run = session.make_callable(outputs[0].op)
            sizes += [(v.size, v.dtype.itemsize) for v in session.run(outputs)]
        except tf.errors.OpError:
            self.run = None
        self.elements = max(n for n, _ in sizes)
        self.bytes = sum(n * size for n, size in sizes)

    def seconds(self, budget):
        return None if self.run is None else shortest(self.run, budget) - self.overhead


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph-run", default="build/release/bin/graph_run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    print(f"{'':36}{'us':>9}{'ns':>9}{'GB/s':>8}{'TensorFlow us':>15}{'ns':>9}{'ratio':>8}")
    for name, op, operands, attrs in cases():
        if args.names and not any(part in name for part in args.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = Ours(args.graph_run, folder, op, operands, attrs), TensorFlow(op, operands, attrs)
            times = [(ours.seconds(args.seconds), theirs.seconds(args.seconds)) for _ in range(args.rounds)]
        if times[0][0] is None:
            print(f"{name:36}{'-':>9}")
            continue
        best = min(t for t, _ in times)
        line = f"{name:36}{best * 1e6:9.1f}{best * 1e9 / theirs.elements:9.2f}{theirs.bytes / best * 1e-9:8.2f}"
        if times[0][1] is not None:
            peer = min(t for _, t in times)
            line += f"{peer * 1e6:15.1f}{peer * 1e9 / theirs.elements:9.2f}{statistics.median(a / b for a, b in times):8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes a quantized model of a float one, as training with fake quantization leaves it.

    quantize_model.py GRAPH FEEDS OUT

GRAPH is a frozen GraphDef (.pb or .pb.xz), FEEDS a folder with a .npy for each placeholder. Each product and convolution with
constant weights gets a FakeQuantWithMinMaxVars before its input, by the extremes that TensorFlow computes for the feeds, and a
FakeQuantWithMinMaxVarsPerChannel, symmetric about 0, before its weights. OUT/graph.pb is the result, OUT/fetches/<node>.npy what
TensorFlow answers for each node that nobody reads.

    graph_run bench OUT/graph.pb --precision int8

beside `graph_run bench GRAPH` shows what 8 bits gain. Needs TensorFlow, which CI has not.
"""
import lzma
import os
import sys

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  after the variable

PRODUCTS = ("Conv2D", "MatMul")


def read(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rb") as file:
        return tf.compat.v1.GraphDef.FromString(file.read())


def run(graph, tensors, feeds):
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf.compat.v1.Session() as session:
            return session.run(tensors, {name + ":0": value for name, value in feeds.items()})


def constant(nodes, name):
    """The value of a Const, perhaps behind Identity; else None."""
    node = nodes[name.split(":")[0]]
    while node.op == "Identity":
        node = nodes[node.input[0]]
    return tf.make_ndarray(node.attr["value"].tensor) if node.op == "Const" else None


def add_rounding(graph, name, op, value, low, high, narrow):
    for suffix, bound in (("low", low), ("high", high)):
        node = graph.node.add(name=f"{name}/{suffix}", op="Const")
        node.attr["dtype"].type = tf.float32.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.asarray(bound, np.float32)))
    node = graph.node.add(name=name, op=op, input=[value, f"{name}/low", f"{name}/high"])
    node.attr["num_bits"].i = 8
    node.attr["narrow_range"].b = narrow


def main():
    source, feed_folder, out = sys.argv[1:]
    graph = read(source)
    feeds = {file[:-4]: np.load(os.path.join(feed_folder, file)) for file in os.listdir(feed_folder)}
    nodes = {node.name: node for node in graph.node}
    read_by = {name.split(":")[0].lstrip("^") for node in graph.node for name in node.input}
    products = [node for node in graph.node if node.op in PRODUCTS and constant(nodes, node.input[1]) is not None]
    inputs = sorted({node.input[0] for node in products})
    values = run(graph, [name if ":" in name else name + ":0" for name in inputs], feeds)
    rounded = {}
    for name, value in zip(inputs, values):
        rounded[name] = "rounded/" + name.replace(":", "_")
        add_rounding(graph, rounded[name], "FakeQuantWithMinMaxVars", name, min(0.0, value.min()), max(1e-6, value.max()), False)
    for node in products:
        weights, name = constant(nodes, node.input[1]), "rounded_weights/" + node.name
        if node.op == "MatMul" and node.attr["transpose_b"].b:
            op, most = "FakeQuantWithMinMaxVars", np.abs(weights).max()
        else:
            op, most = "FakeQuantWithMinMaxVarsPerChannel", np.abs(weights).reshape(-1, weights.shape[-1]).max(0) + 1e-9
        add_rounding(graph, name, op, node.input[1], -most, most, True)
        node.input[0], node.input[1] = rounded[node.input[0]], name
    os.makedirs(os.path.join(out, "fetches"), exist_ok=True)
    with open(os.path.join(out, "graph.pb"), "wb") as file:
        file.write(graph.SerializeToString())
    fetches = [name for name, node in nodes.items() if name not in read_by and node.op != "NoOp"]
    for name, value in zip(fetches, run(graph, [name + ":0" for name in fetches], feeds)):
        np.save(os.path.join(out, "fetches", name.replace("/", "_") + ".npy"), value)
    print(f"{len(products)} products and convolutions")


if __name__ == "__main__":
    main()

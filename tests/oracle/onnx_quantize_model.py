#!/usr/bin/env python3
"""Makes a quantized model of a float one with ONNX Runtime's quantizer.

    onnx_quantize_model.py GRAPH FEEDS OUT

GRAPH is the frozen GraphDef (.pb or .pb.xz) of an image classifier, FEEDS a folder with x.npy for its placeholder. The graph becomes an
ONNX model; onnxruntime.quantization.quantize_static puts QuantizeLinear and DequantizeLinear into it (uint8 values, int8 weights by channel,
calibrated with the feeds); and what it wrote becomes a GraphDef again, in single ops: scaled, rounded, limited and cast, as importers of ONNX
write it. OUT/graph.pb is the result, OUT/fetches/out.npy what TensorFlow answers for it. The differences between TensorFlow's, ONNX Runtime's
and the float model's answers are printed.

    graph_run bench OUT/graph.pb --precision int8

beside `graph_run bench GRAPH` shows what 8 bits gain. Needs TensorFlow, onnx and onnxruntime, which CI has not. Ops that are not of the
classifiers in shared/fixtures are refused.
"""
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from quantize_model import read, run, tf

IMAGE = (0, 3, 1, 2)  # the dimensions of images as ONNX orders them


class Feeds(CalibrationDataReader):
    def __init__(self, value):
        self.values = iter([{"x": value}])

    def get_next(self):
        return next(self.values, None)


# --- To ONNX, with channels first.


class Exporter:
    def __init__(self, graph, x):
        self.nodes = {node.name: node for node in graph.node}
        self.changing = self.readers_of("x", graph)
        names = [name for name in self.nodes if self.nodes[name].op not in ("NoOp", "Placeholder")]
        self.values = dict(zip(names, run(graph, [name + ":0" for name in names], {"x": x})))
        self.values["x"] = x
        self.made, self.constants = [], []
        for node in graph.node:
            if node.name in self.changing and node.name != "x":
                self.export(node)

    @staticmethod
    def readers_of(name, graph):
        found, more = {name}, True
        while more:
            more = {n.name for n in graph.node if n.name not in found and any(i.split(":")[0] in found for i in n.input)}
            found |= more
        return found

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, op, inputs, node, **attrs):
        self.made.append(helper.make_node(op, inputs, [node.name], name=node.name, **attrs))

    def operand(self, node, i):
        """A changing value, or a constant that is broadcast over the places of an image."""
        name = node.input[i].split(":")[0]
        if name in self.changing:
            return name
        value = self.values[name]
        if self.values[node.name].ndim == 4 and value.ndim > 0:
            value = value.reshape((1,) * (4 - value.ndim) + value.shape).transpose(IMAGE)
        return self.constant(f"{node.name}/{i}", value)

    def windows(self, node, size):
        strides = list(node.attr["strides"].list.i)[1:3]
        pads = [0, 0, 0, 0]
        if node.attr["padding"].s == b"SAME":
            image, result = self.values[node.input[0]].shape[1:3], self.values[node.name].shape[1:3]
            total = [max(0, (o - 1) * s + k - n) for o, s, k, n in zip(result, strides, size, image)]
            pads = [t // 2 for t in total] + [t - t // 2 for t in total]
        return {"strides": strides, "pads": pads, "kernel_shape": list(size)}

    def export(self, node):
        value = [self.values.get(name.split(":")[0]) for name in node.input]
        if node.op in ("Conv2D", "DepthwiseConv2dNative"):
            weights, groups = value[1], 1
            if node.op != "Conv2D":
                groups = weights.shape[2]
                weights = weights.reshape(weights.shape[:2] + (1, -1))
            name = self.constant(node.name + "/weights", weights.transpose(3, 2, 0, 1))
            self.add("Conv", [node.input[0], name], node, group=groups, **self.windows(node, weights.shape[:2]))
        elif node.op in ("BiasAdd", "AddV2", "Mul"):
            op = "Mul" if node.op == "Mul" else "Add"
            self.add(op, [self.operand(node, 0), self.operand(node, 1)], node)
        elif node.op == "FusedBatchNormV3":
            names = [self.constant(f"{node.name}/{i}", value[i]) for i in range(1, 5)]
            self.add("BatchNormalization", [node.input[0]] + names, node, epsilon=node.attr["epsilon"].f)
        elif node.op == "Relu6":
            limits = [self.constant(f"{node.name}/{v}", np.float32(v)) for v in (0, 6)]
            self.add("Clip", [node.input[0]] + limits, node)
        elif node.op == "MaxPool":
            self.add("MaxPool", [node.input[0]], node, **self.windows(node, list(node.attr["ksize"].list.i)[1:3]))
        elif node.op == "Pad":
            pads = np.array(value[1])[list(IMAGE)].T.reshape(-1)
            self.add("Pad", [node.input[0], self.constant(node.name + "/pads", pads.astype(np.int64))], node)
        elif node.op == "Mean" and list(value[1]) == [1, 2]:
            axes = self.constant(node.name + "/axes", np.array([2, 3], np.int64))
            self.add("ReduceMean", [node.input[0], axes], node, keepdims=int(node.attr["keep_dims"].b))
        elif node.op in ("Relu", "MatMul", "Softmax", "Identity"):
            self.add(node.op, [self.operand(node, i) for i in range(len(node.input))], node)
        else:
            sys.exit(f"'{node.name}': no rule for {node.op}")

    def model(self):
        dims = [self.values["x"].shape[i] for i in IMAGE]
        graph = helper.make_graph(self.made, "model", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, dims)],
                                  [helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, self.values["out"].shape)],
                                  self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = 10
        return model


# --- Back to a GraphDef, with channels last.


class Importer:
    def __init__(self, model, x):
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.ranks = {"x": x.ndim}
        self.tensors = {}
        with tf.Graph().as_default() as graph:
            self.tensors["x"] = tf.compat.v1.placeholder(tf.float32, x.shape, "x")
            for node in model.graph.node:
                attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
                self.tensors[node.output[0]] = self.convert(node, attrs)
            tf.identity(self.tensors["out"], "out")
        self.graph = graph.as_graph_def()

    def tensor(self, name):
        """A value; a constant of four dimensions is one that is broadcast over an image."""
        if name not in self.tensors:
            value = self.constants[name]
            self.tensors[name] = tf.constant(value.transpose(0, 2, 3, 1) if value.ndim == 4 else value)
        return self.tensors[name]

    def dequantize(self, node, attrs):
        name, scale, zero = node.input[0], self.constants[node.input[1]], self.constants[node.input[2]]
        if name not in self.constants:
            return (tf.cast(self.tensors[name], tf.float32) - np.float32(zero)) * scale
        value = self.constants[name]
        if np.any(zero):
            sys.exit(f"'{name}': weights with a zero point are not built")
        if value.ndim == 4:  # to be read as weights: scales of output channels, the first dimension
            value = value.transpose(2, 3, 1, 0)
        elif value.ndim == 2 and scale.ndim == 1 and attrs.get("axis", 1) == 0:
            sys.exit(f"'{name}': scales of rows are not built")
        return tf.cast(tf.constant(value), tf.float32) * scale

    def convert(self, node, attrs):
        if node.op_type == "DequantizeLinear":
            return self.dequantize(node, attrs)
        x = self.tensor(node.input[0])
        if node.op_type == "QuantizeLinear":
            scale, zero = self.constants[node.input[1]], self.constants[node.input[2]]
            limits = np.iinfo(zero.dtype)
            codes = tf.clip_by_value(tf.round(x / scale) + np.float32(zero), np.float32(limits.min), np.float32(limits.max))
            return tf.cast(codes, zero.dtype)
        if node.op_type == "Conv":
            return self.conv(node, attrs, x)
        if node.op_type == "MaxPool":
            padded = tf.pad(x, self.paddings(attrs), constant_values=np.float32(-np.inf)) if any(attrs["pads"]) else x
            return tf.nn.max_pool2d(padded, attrs["kernel_shape"], attrs["strides"], "VALID")
        if node.op_type == "Pad":
            pads = self.constants[node.input[1]].reshape(2, -1).T
            return tf.pad(x, pads[[0, 2, 3, 1]])
        if node.op_type == "ReduceMean":
            return tf.reduce_mean(x, [1, 2], keepdims=bool(attrs["keepdims"]))
        if node.op_type == "Clip":
            low, high = (self.constants[name].item() for name in node.input[1:])
            return tf.nn.relu6(x) if (low, high) == (0, 6) else tf.clip_by_value(x, low, high)
        if node.op_type == "Gemm":
            if attrs.get("transA") or attrs.get("transB"):
                sys.exit(f"'{node.name}': transposed products are not built")
            return tf.matmul(x, self.tensor(node.input[1])) + self.tensor(node.input[2])
        simple = {"Add": tf.add, "Mul": tf.multiply, "MatMul": tf.matmul, "Relu": tf.nn.relu, "Softmax": tf.nn.softmax, "Identity": tf.identity}
        if node.op_type not in simple:
            sys.exit(f"'{node.name}': no rule for {node.op_type}")
        return simple[node.op_type](*[self.tensor(name) for name in node.input])

    @staticmethod
    def paddings(attrs):
        top, left, bottom, right = attrs["pads"]
        return [[0, 0], [top, bottom], [left, right], [0, 0]]

    def conv(self, node, attrs, x):
        weights = self.tensor(node.input[1])
        if node.input[1] in self.constants:  # a float constant
            weights = tf.constant(self.constants[node.input[1]].transpose(2, 3, 1, 0))
        strides = [1, *attrs["strides"], 1]
        if attrs["group"] > 1:
            size = weights.shape[:2]
            weights = tf.reshape(weights, [size[0], size[1], attrs["group"], 1])
            result = tf.nn.depthwise_conv2d(tf.pad(x, self.paddings(attrs)) if any(attrs["pads"]) else x, weights, strides, "VALID")
        else:
            result = tf.nn.conv2d(x, weights, strides, self.paddings(attrs) if any(attrs["pads"]) else "VALID")
        return tf.nn.bias_add(result, self.tensor(node.input[2])) if len(node.input) > 2 else result


def answer_of(path, image, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": image})[0]


def main():
    source, feeds, out = sys.argv[1:]
    x = np.load(os.path.join(feeds, "x.npy"))
    exporter = Exporter(read(source), x)
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("float.onnx", "ready.onnx", "quantized.onnx")]
        onnx.save(exporter.model(), names[0])
        quant_pre_process(names[0], names[1], skip_symbolic_shape=True)
        softmaxes = [node.name for node in onnx.load(names[1]).graph.node if node.op_type == "Softmax"]
        image = np.ascontiguousarray(x.transpose(IMAGE))
        quantize_static(names[1], names[2], Feeds(image), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        nodes_to_exclude=softmaxes)
        answers = [answer_of(name, image) for name in names]
        as_written = answer_of(names[2], image, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        quantized = Importer(onnx.load(names[2]), x)
    os.makedirs(os.path.join(out, "fetches"), exist_ok=True)
    with open(os.path.join(out, "graph.pb"), "wb") as file:
        file.write(quantized.graph.SerializeToString())
    answer = run(quantized.graph, ["out:0"], {"x": x})[0]
    np.save(os.path.join(out, "fetches", "out.npy"), answer)
    scale = np.abs(exporter.values["out"]).max()
    for name, other in (("the float model in TensorFlow", exporter.values["out"]), ("the float model in ONNX Runtime", answers[0]),
                        ("the quantized model in ONNX Runtime, with its integer kernels", answers[2]),
                        ("the quantized model in ONNX Runtime, op by op in floats", as_written)):
        print(f"differs from {name} by at most {np.abs(answer - other).max() / scale:.2g} of the greatest value")


if __name__ == "__main__":
    main()

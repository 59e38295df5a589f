#!/usr/bin/env python3
"""Single ops of resnet50, bert_base, mobilenet_v2 and other convolutions: our time over TensorFlow's and ONNX Runtime's, one thread.

    taskset -c 1 python3 benchmarks/kernel_ratios.py [--graph-run PATH] [--type T] [--rounds N] [--seconds S] [NAME...]

Needs the packages tensorflow, onnxruntime and onnx. In each round every program runs the same op on the same shapes for S
seconds, one after the other; a round gives the ratio of the shortest runs, and the table the median over the rounds with
its 95 % interval (bootstrap). Ours is a whole run of `graph_run bench`, with the session, that hands out nothing but a scalar.
From the peers' runs the time of a run that computes nothing is taken off. TensorFlow gets its operands as constants, with its optimizer off and oneDNN on,
and computes in the calling thread; ONNX Runtime is bound to its operands and results. Its convolutions run in NCHW with all
optimizations and, if that is faster, in its own blocked layout, which costs it no conversion here. With a type T other than
float32 (float16, bfloat16, float64) all operands but indices have that type, and ONNX Runtime, which lacks most such kernels, stays out.
"""
import argparse
import json
import os
import subprocess
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import onnx
import onnxruntime
import tensorflow as tf
from onnx import helper, numpy_helper

from timing import shortest

tf.compat.v1.disable_eager_execution()
RANDOM = np.random.default_rng(1)


def floats(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int32)


class Case:
    """One op. `inputs` are arrays; those whose places are in `constants` are constants of the graph, the others are fed.
    `onnx_nodes` are nodes of ONNX, one of which will do: (op, inputs, attributes, domain), an input as an array or as the
    place of one of the case's inputs; the first array is fed, later ones are constants."""

    def __init__(self, name, op, inputs, attrs, onnx_nodes, constants=()):
        self.name, self.op, self.inputs, self.attrs = name, op, inputs, attrs
        self.onnx_nodes, self.constants = onnx_nodes, constants

    def become(self, dtype):
        self.inputs = [v.astype(dtype) if v.dtype == np.float32 else v for v in self.inputs]

    def node(self, operands):
        return getattr(tf.raw_ops, self.op)(**dict(zip(ARGUMENTS[self.op], operands)), **self.attrs)


ARGUMENTS = {
    "MatMul": ("a", "b"), "BatchMatMulV2": ("x", "y"), "Conv2D": ("input", "filter"), "Conv3D": ("input", "filter"),
    "DepthwiseConv2dNative": ("input", "filter"), "BiasAdd": ("value", "bias"), "AddV2": ("x", "y"), "Mul": ("x", "y"),
    "Softmax": ("logits",), "Mean": ("input", "axis"), "Transpose": ("x", "perm"),
    "GatherV2": ("params", "indices", "axis"),
}


def matmul(m, k, n):
    return Case(f"MatMul {m}x{k} {k}x{n}", "MatMul", [floats(m, k), floats(k, n)], {}, [("MatMul", [0, 1], {}, "")], (1,))


def heads(m, k, n):
    return Case(f"BatchMatMulV2 12x{m}x{k} 12x{k}x{n}", "BatchMatMulV2", [floats(1, 12, m, k), floats(1, 12, k, n)], {},
                [("MatMul", [0, 1], {}, "")])


def conv(size, channels, out, window, stride=1, depthwise=False):
    """Over an image or volume; `size` and `window` are one number for each dimension or, of squares, one for both."""
    size, window = (v if isinstance(v, tuple) else (v, v) for v in (size, window))
    pads = [max(0, (-(-n // stride) - 1) * stride + k - n) for n, k in zip(size, window)]
    attrs = {"strides": [stride] * len(size), "pads": [p // 2 for p in pads] + [p - p // 2 for p in pads],
             "kernel_shape": window, "group": channels if depthwise else 1}
    x = floats(1, *size, channels)
    w = floats(*window, channels, 1 if depthwise else out)
    x_onnx, w_onnx = np.moveaxis(x, -1, 1), np.moveaxis(w, (-2, -1) if depthwise else (-1, -2), (0, 1))
    operands = [np.ascontiguousarray(x_onnx), np.ascontiguousarray(w_onnx)]
    nodes = [("Conv", operands, attrs, "")]
    if channels % 16 == 0 and out % 16 == 0 and len(size) == 2:
        nodes.append(("Conv", operands, attrs, "com.microsoft.nchwc"))
    op = "DepthwiseConv2dNative" if depthwise else f"Conv{len(size)}D"
    return Case(f"{op} {'x'.join(map(str, size))}x{channels} {'x'.join(map(str, window))} to {out} stride {stride}", op, [x, w],
                {"strides": [1, *[stride] * len(size), 1], "padding": "SAME"}, nodes, (1,))


def bias(*shape):
    x, b = floats(*shape), floats(shape[-1])
    x_onnx, b_onnx = (np.moveaxis(x, -1, 1), b.reshape(-1, 1, 1)) if len(shape) == 4 else (x, b)
    return Case(f"BiasAdd {'x'.join(map(str, shape))}", "BiasAdd", [x, b], {},
                [("Add", [np.ascontiguousarray(x_onnx), b_onnx], {}, "")], (1,))


def binary(op, a, b, constant=False):
    return Case(f"{op} {'x'.join(map(str, a))} {'x'.join(map(str, b)) or 'scalar'}", op, [floats(*a), floats(*b)], {},
                [({"AddV2": "Add"}.get(op, op), [0, 1], {}, "")], (1,) if constant else ())


def softmax(*shape):
    return Case(f"Softmax {'x'.join(map(str, shape))}", "Softmax", [floats(*shape)], {}, [("Softmax", [0], {"axis": -1}, "")])


def mean(shape, axes, keep):
    x_onnx, axes_onnx = (floats(*shape), axes) if len(shape) < 4 else (floats(*np.array(shape)[[0, 3, 1, 2]]), [2, 3])
    return Case(f"Mean {'x'.join(map(str, shape))} over {','.join(map(str, axes))}", "Mean", [floats(*shape), ints(*axes)],
                {"keep_dims": keep},
                [("ReduceMean", [x_onnx, np.array(axes_onnx, np.int64)], {"keepdims": int(keep)}, "")], (1,))


def transpose(shape, perm):
    return Case(f"Transpose {'x'.join(map(str, shape))} {','.join(map(str, perm))}", "Transpose", [floats(*shape), ints(*perm)],
                {}, [("Transpose", [0], {"perm": perm}, "")], (1,))


def gather(rows, columns, count):
    indices = RANDOM.integers(0, rows, (1, count)).astype(np.int32)
    return Case(f"GatherV2 {rows}x{columns} {count}", "GatherV2", [floats(rows, columns), indices, ints(0)[0]], {},
                [("Gather", [0, 1], {"axis": 0}, "")], (0, 2))


CASES = [
    matmul(128, 768, 768), matmul(128, 768, 3072), matmul(128, 3072, 768), matmul(1, 2048, 1000),
    heads(128, 64, 128), heads(128, 128, 64),
    conv(224, 3, 64, 7, 2), conv(56, 64, 64, 1, 1), conv(56, 64, 64, 3, 1), conv(56, 64, 256, 1, 1), conv(56, 256, 128, 1, 2),
    conv(28, 128, 128, 3, 1), conv(14, 256, 256, 3, 1), conv(14, 256, 1024, 1, 1), conv(14, 1024, 256, 1, 1),
    conv(7, 512, 512, 3, 1), conv(7, 512, 2048, 1, 1),
    conv(112, 32, 32, 3, 1, True), conv(56, 144, 144, 3, 1, True), conv(28, 192, 192, 3, 1, True),
    conv(14, 384, 384, 3, 1, True), conv(7, 960, 960, 3, 1, True),
    # Large windows.
    conv((96, 128), 64, 64, 9), conv(48, 48, 64, 9), conv(64, 16, 64, 13), conv((96, 128), 64, 3, 9),
    # Volumes of a 3-D U-Net.
    conv((64, 64, 64), 1, 16, (3, 3, 3)), conv((64, 64, 64), 16, 16, (3, 3, 3)), conv((32, 32, 32), 32, 32, (3, 3, 3)),
    conv((16, 16, 16), 64, 64, (3, 3, 3)), conv((64, 64, 64), 16, 2, (1, 1, 1)),
    # Cascades of small ones: faces, pitches.
    conv(24, 3, 28, 3), conv(11, 28, 48, 3), conv(4, 48, 64, 2), conv((1, 128), 1, 64, (1, 3)), conv((1, 64), 64, 128, (1, 3)),
    conv((1, 16), 256, 512, (1, 3)),
    bias(1, 112, 112, 64), bias(1, 56, 56, 256), bias(1, 7, 7, 2048), bias(128, 768), bias(128, 3072),
    binary("AddV2", (1, 56, 56, 256), (1, 56, 56, 256)), binary("AddV2", (1, 7, 7, 2048), (1, 7, 7, 2048)),
    binary("AddV2", (1, 128, 768), (1, 128, 768)), binary("AddV2", (1, 128, 768), (768,), True),
    binary("AddV2", (1, 12, 128, 128), (1, 1, 1, 128)), binary("AddV2", (1, 128, 1), (), True),
    binary("Mul", (1, 128, 3072), (1, 128, 3072)), binary("Mul", (1, 128, 768), (768,), True),
    binary("Mul", (1, 128, 768), (1, 128, 1)), binary("Mul", (1, 12, 128, 128), (), True),
    softmax(1, 12, 128, 128), softmax(1, 1000),
    mean((1, 7, 7, 2048), (1, 2), False), mean((1, 128, 768), (2,), True),
    transpose((1, 128, 12, 64), (0, 2, 1, 3)), transpose((1, 12, 128, 64), (0, 2, 1, 3)),
    transpose((1, 128, 12, 64), (0, 2, 3, 1)), transpose((768, 768), (1, 0)),
    gather(30522, 768, 128), gather(2, 768, 128),
]


class Ours:
    def __init__(self, case, program, folder):
        self.command = [program, "bench", f"{folder}/{CASES.index(case)}.pb", "--output", "out", "--opt-level", "0",
                        "--threads", "1", "--json"]
        with tf.Graph().as_default() as graph:
            operands = []
            for i, value in enumerate(case.inputs):
                if i in case.constants:
                    operands.append(tf.constant(value))
                    continue
                operands.append(tf.compat.v1.placeholder(value.dtype, value.shape, f"x{i}"))
                spec = f"@{folder}/{CASES.index(case)}_{i}.npy"
                if value.dtype == tf.bfloat16.as_numpy_dtype:  # which .npy files do not have
                    spec = f"random(seed={i + 1})"
                else:
                    np.save(spec[1:], value)
                self.command += ["--input", f"x{i}={spec}"]
            with tf.control_dependencies([case.node(operands).op]):  # so that the result stays inside
                tf.identity(tf.constant(0.0), "out")
        with open(self.command[2], "wb") as f:
            f.write(graph.as_graph_def().SerializeToString())

    def seconds(self, budget):
        done = subprocess.run(self.command + ["--seconds", str(budget)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["min_us"] * 1e-6


class TensorFlow:
    """As many copies of the op, one after the other, as one run needs to last for a while; one for those that pack constants."""

    def __init__(self, case):
        self.copies = 1 if case.op in ("MatMul", "Conv2D", "Conv3D", "DepthwiseConv2dNative") else 20
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=-1)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        config.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"
        with tf.Graph().as_default() as graph:
            operands = [tf.constant(value) for value in case.inputs]
            last, before = tf.no_op(), []
            empty = last
            for _ in range(self.copies):
                with tf.control_dependencies(before):
                    last = case.node(operands)
                before = [last.op]
        session = tf.compat.v1.Session(graph=graph, config=config)
        self.run, nothing = session.make_callable(last.op), session.make_callable(empty)
        self.overhead = shortest(nothing, 0.5)

    def seconds(self, budget):
        return (shortest(self.run, budget) - self.overhead) / self.copies


class OnnxRuntime:
    def __init__(self, case):
        self.bound = [self.bind(case, *node) for node in case.onnx_nodes]
        self.overhead = shortest(self.session(helper.make_node("Identity", ["x0"], ["out"]), [floats(1)], []), 0.5)

    def bind(self, case, op, inputs, attrs, domain):
        arrays = [case.inputs[i] if isinstance(i, int) else i for i in inputs]
        constants = [k for k, i in enumerate(inputs) if (i in case.constants if isinstance(i, int) else k > 0)]
        node = helper.make_node(op, [f"x{k}" for k in range(len(arrays))], ["out"], domain=domain, **attrs)
        return self.session(node, arrays, constants)

    @staticmethod
    def session(node, arrays, constants):
        inputs = [helper.make_tensor_value_info(f"x{k}", helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                  for k, a in enumerate(arrays) if k not in constants]
        weights = [numpy_helper.from_array(arrays[k], f"x{k}") for k in constants]
        out = helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, None)
        graph = helper.make_graph([node], "case", inputs, [out], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft.nchwc", 1)])
        model.ir_version = 10
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for k, a in enumerate(arrays):
            if k not in constants:
                binding.bind_ortvalue_input(f"x{k}", onnxruntime.OrtValue.ortvalue_from_numpy(a))
        result = session.run(None, {f"x{k}": a for k, a in enumerate(arrays) if k not in constants})[0]
        binding.bind_ortvalue_output("out", onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros_like(result)))
        return lambda: session.run_with_iobinding(binding)

    def seconds(self, budget):
        return min(shortest(run, budget / len(self.bound)) for run in self.bound) - self.overhead


def interval(ratios):
    medians = np.median(RANDOM.choice(ratios, (2000, len(ratios))), axis=1)
    return np.median(ratios), *np.percentile(medians, [2.5, 97.5])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph-run", default="build/release/bin/graph_run")
    parser.add_argument("--type", default="float32", choices=["float32", "float16", "bfloat16", "float64"])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    print(f"{'':48}{'us':>9}{'TensorFlow':>12}{'':18}{'ONNX Runtime':>14}")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if args.names and not any(name in case.name for name in args.names):
                continue
            case.become(tf.dtypes.as_dtype(args.type).as_numpy_dtype)
            programs = [Ours(case, args.graph_run, folder), TensorFlow(case)]
            if args.type == "float32":
                programs.append(OnnxRuntime(case))
            times = np.array([[p.seconds(args.seconds) for p in programs] for _ in range(args.rounds)])
            line = f"{case.name:48}{np.median(times[:, 0]) * 1e6:9.1f}"
            for peer in range(1, len(programs)):
                ratio, low, high = interval(times[:, 0] / times[:, peer])
                line += f"{ratio:12.2f} [{low:.2f}, {high:.2f}]" + (" slower" if low > 1 else "       ")
            print(line, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What a node costs when its arithmetic costs nothing: ours beside TensorFlow's and ONNX Runtime's.

    taskset -c 1 python3 benchmarks/dispatch_ratios.py [--graph-run PATH] [--rounds N] [--seconds S] [ROW...]

Needs numpy, and for each peer its package: tensorflow; onnxruntime and onnx. A peer whose package is missing has an empty
column. Graphs work on scalars of float32. A row is the difference between a long and a short graph (or loop) over the
difference in nodes (or passes), so that what a whole run costs, Python's calls included, drops out. All run on one thread with
optimizers off, so that all do the same work; TensorFlow with the better of its two executors, and with its functions
inlined, which is its default, in the row of calls. Programs take turns within a round; the table shows the least over the rounds.

What the rows do not show: kernels that compute, and what a graph costs whose nodes run on several threads.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np

from timing import shortest

SIGNATURE = "type: DT_FLOAT"
EIGHT_OPS = ["AddV2", "Mul", "Sub", "Maximum", "Minimum", "SquaredDifference", "Atan2", "RealDiv"]


def node(name, op, inputs, attrs='attr { key: "T" value { type: DT_FLOAT } }'):
    return f'node {{ name: "{name}" op: "{op}" ' + " ".join(f'input: "{i}"' for i in inputs) + f" {attrs} }}\n"


def placeholder(name, shape="shape { }", dtype="DT_FLOAT"):
    return node(name, "Placeholder", [], f'attr {{ key: "dtype" value {{ type: {dtype} }} }} '
                                         f'attr {{ key: "shape" value {{ {shape} }} }}')


def binary_function(name, op):
    return (f"function {{ signature {{ name: '{name}' input_arg {{ name: 'a' {SIGNATURE} }} "
            f"input_arg {{ name: 'b' {SIGNATURE} }} output_arg {{ name: 'r' {SIGNATURE} }} }} "
            f"node_def {{ name: 's' op: '{op}' input: 'a' input: 'b' attr {{ key: 'T' value {{ {SIGNATURE} }} }} }} "
            f"ret {{ key: 'r' value: 's:z:0' }} }}\n")


LIBRARY = "library {\n" + binary_function("plus", "AddV2") + binary_function("minus", "Sub") + """
function { signature { name: 'less' input_arg { name: 'i' type: DT_FLOAT } input_arg { name: 'n' type: DT_FLOAT }
                       output_arg { name: 'r' type: DT_BOOL } }
  node_def { name: 'l' op: 'Less' input: 'i' input: 'n' attr { key: 'T' value { type: DT_FLOAT } } }
  ret { key: 'r' value: 'l:z:0' } }
function { signature { name: 'next' input_arg { name: 'i' type: DT_FLOAT } input_arg { name: 'n' type: DT_FLOAT }
                       output_arg { name: 'r' type: DT_FLOAT } output_arg { name: 's' type: DT_FLOAT } }
  node_def { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
  node_def { name: 'a' op: 'AddV2' input: 'i' input: 'one:output:0' attr { key: 'T' value { type: DT_FLOAT } } }
  ret { key: 'r' value: 'a:z:0' } ret { key: 's' value: 'n' } }
}
versions { producer: 2000 }
"""
LOWER = 'attr { key: "_lower_using_switch_merge" value { b: true } }'
TWO_FLOATS = 'value { list { type: DT_FLOAT type: DT_FLOAT } }'


def chain(ops):
    """A chain in which ops(i) names the op of node i."""
    def build(length):
        text = placeholder("x") + placeholder("y")
        for i in range(length):
            text += node(f"n{i}", ops(i), [f"n{i - 1}" if i else "x", "y"])
        return text, f"n{length - 1}", {"x": 1.0, "y": 1.0}
    return build


def calls(length):
    attrs = (f'attr {{ key: "Tin" {TWO_FLOATS} }} attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }} '
             'attr { key: "f" value { func { name: "plus" } } }')
    text = placeholder("x") + placeholder("y")
    for i in range(length):
        text += node(f"n{i}", "PartitionedCall", [f"n{i - 1}" if i else "x", "y"], attrs)
    return text + LIBRARY, f"n{length - 1}", {"x": 1.0, "y": 1.0}


def branches(length):
    attrs = (f'attr {{ key: "Tcond" value {{ type: DT_BOOL }} }} attr {{ key: "Tin" {TWO_FLOATS} }} '
             'attr { key: "Tout" value { list { type: DT_FLOAT } } } '
             'attr { key: "then_branch" value { func { name: "plus" } } } '
             'attr { key: "else_branch" value { func { name: "minus" } } } ' + LOWER)
    text = placeholder("x") + placeholder("y") + placeholder("c", dtype="DT_BOOL")
    for i in range(length):  # each has a predicate of its own, so that none is shared
        text += node(f"c{i}", "LogicalNot", [f"c{i - 1}" if i else "c"], "")
        text += node(f"n{i}", "If", [f"c{i}", f"n{i - 1}" if i else "x", "y"], attrs)
    return text + LIBRARY, f"n{length - 1}", {"x": 1.0, "y": 1.0, "c": True}


def loop(passes):
    attrs = (f'attr {{ key: "T" {TWO_FLOATS} }} attr {{ key: "cond" value {{ func {{ name: "less" }} }} }} '
             'attr { key: "body" value { func { name: "next" } } } ' + LOWER)
    text = placeholder("x") + placeholder("n") + node("w", "While", ["x", "n"], attrs)
    return text + LIBRARY, "w", {"x": 0.0, "n": float(passes)}


def shuffled(i):
    return EIGHT_OPS[random.Random(i).randrange(len(EIGHT_OPS))]


# Row: what builds the graph, the two lengths, and whether ONNX has the ops.
ROWS = {
    "chain of AddV2": (chain(lambda i: "AddV2"), 1000, 10000, True),
    "AddV2 and Mul in turns": (chain(lambda i: ("AddV2", "Mul")[i % 2]), 1000, 10000, True),
    "chain of 8 ops, random": (chain(shuffled), 1000, 10000, False),
    "call with an AddV2": (calls, 200, 2000, False),
    "If with its LogicalNot": (branches, 200, 2000, False),
    "pass of a While": (loop, 2000, 20000, False),
}


class Ours:
    title = "tenon"

    def __init__(self, graph, path, graph_run):
        text, fetch, feeds = graph
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.command = [graph_run, "bench", path, "--json", "--threads", "1", "--opt-level", "0", "--output", fetch]
        for name, value in feeds.items():
            self.command += ["--input", f"{name}=bool=true" if value is True else f"{name}=f32={value}"]

    def seconds(self, budget):
        result = subprocess.run(self.command + ["--seconds", str(budget)], check=True, capture_output=True)
        return json.loads(result.stdout)["min_us"] * 1e-6


class TensorFlow:
    title = "TensorFlow"

    def __init__(self, graph, executor):
        import tensorflow as tf
        from google.protobuf import text_format
        from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
        text, fetch, feeds = graph
        definition = text_format.Parse(text, tf.compat.v1.GraphDef())
        config = config_pb2.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
        config.experimental.executor_type = executor
        config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
        rewrites = config.graph_options.rewrite_options
        for field in rewrites.DESCRIPTOR.fields:
            if field.enum_type is not None and field.enum_type.name == "Toggle" and field.name != "function_optimization":
                setattr(rewrites, field.name, rewriter_config_pb2.RewriterConfig.OFF)
        rewrites.min_graph_nodes = -1
        with tf.Graph().as_default() as self.graph:
            tf.import_graph_def(definition, name="")
        self.session = tf.compat.v1.Session(graph=self.graph, config=config)
        names = list(feeds)
        function = self.session.make_callable(fetch + ":0", [self.graph.get_tensor_by_name(n + ":0") for n in names])
        values = [np.bool_(feeds[n]) if feeds[n] is True else np.float32(feeds[n]) for n in names]
        self.run = lambda: function(*values)
        self.run()

    def seconds(self, budget):
        return shortest(self.run, budget)


class OnnxRuntime:
    title = "ONNX Runtime"

    def __init__(self, graph, ops):
        import onnxruntime
        from onnx import TensorProto, helper
        names = {"AddV2": "Add"}
        nodes = [helper.make_node(names.get(op, op), [f"n{i - 1}" if i else "x", "y"], [f"n{i}"])
                 for i, op in enumerate(ops)]
        scalar = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [])
        model = helper.make_model(
            helper.make_graph(nodes, "chain", [scalar("x"), scalar("y")], [scalar(f"n{len(ops) - 1}")]),
            opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        feeds = {"x": np.float32(1), "y": np.float32(1)}
        feeds = {name: np.asarray(value) for name, value in feeds.items()}
        self.run = lambda: session.run(None, feeds)
        self.run()

    def seconds(self, budget):
        return shortest(self.run, budget)


def programs(row, length, path, graph_run):
    """What runs this row's graph of this length, by column."""
    build, _, _, has_onnx = ROWS[row]
    graph = build(length)
    made = {"tenon": [Ours(graph, path, graph_run)]}
    makers = {"TensorFlow": [lambda e=e: TensorFlow(graph, e) for e in ("", "SINGLE_THREADED_EXECUTOR")]}
    if has_onnx:
        ops = ["AddV2" if row == "chain of AddV2" or i % 2 == 0 else "Mul" for i in range(length)]
        makers["ONNX Runtime"] = [lambda: OnnxRuntime(graph, ops)]
    for title, options in makers.items():
        made[title] = []
        for make in options:
            try:
                made[title].append(make())
            except ImportError:
                break
            except Exception as error:  # TensorFlow's single-threaded executor runs no control flow
                if title != "TensorFlow":
                    print(f"{row}: {title}: {str(error)[:100]}")
    return made


def measure(row, args, folder):
    _, short, long, _ = ROWS[row]
    made = [programs(row, n, os.path.join(folder, f"{n}.pbtxt"), args.graph_run) for n in (short, long)]
    columns = {}
    for title in ("tenon", "TensorFlow", "ONNX Runtime"):
        best = []
        for pair in zip(*(m.get(title, []) for m in made)):
            times = [[p.seconds(args.seconds) for p in pair] for _ in range(args.rounds)]
            best.append((min(t[1] for t in times) - min(t[0] for t in times)) / (long - short) * 1e9)
        columns[title] = f"{min(best):.1f}" if best else ""
    return columns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph-run", default="build/release/bin/graph_run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW")
    args = parser.parse_args()
    print("| ns each | Tenon | TensorFlow | ONNX Runtime |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for row in args.rows or ROWS:
            columns = measure(row, args, folder)
            print(f"| {row} | {columns['tenon']} | {columns['TensorFlow']} | {columns['ONNX Runtime']} |", flush=True)


if __name__ == "__main__":
    main()

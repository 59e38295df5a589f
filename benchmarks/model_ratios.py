#!/usr/bin/env python3
"""Whole models: our time over OpenVINO's, ONNX Runtime's and TensorFlow's, float32, batch as recorded.

    taskset -c 1 python3 benchmarks/model_ratios.py [--graph-run PATH] [--threads N] [--rounds N] [--seconds S] [MODEL...]

Needs numpy, and for each peer its package: openvino; onnxruntime, onnx and tf2onnx; tensorflow. A peer whose package is
missing, or that cannot read a model, has an empty column. In each round every program runs the same frozen GraphDef on the same feeds for S
seconds, one after the other. A round gives the ratio of the shortest runs; the table shows the median over the rounds with
its 95 % interval (bootstrap) and, under "differs", how far the peer's answer is from ours, which must be rounding only.

Ours is `graph_run bench` in a process of its own; the peers run in this process and are called from Python, which costs
them some microseconds a run: models below a tenth of a millisecond are not comparable. Peers use oneDNN and all their optimizations in float32
(OpenVINO would otherwise choose bfloat16 where the processor has it). Batch 1, latency, one request at a time: throughput of many
requests is another question.
"""
import argparse
import json
import lzma
import os
import subprocess
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np

from timing import shortest

RANDOM = np.random.default_rng(1)
MODELS = "tests/golden/models"


class Model:
    """A golden model, unpacked, with the feeds that it is recorded with."""

    def __init__(self, name, folder):
        self.name = name
        self.path = os.path.join(folder, name + ".pb")
        source = os.path.join(MODELS, name)
        with lzma.open(os.path.join(source, "graph.pb.xz")) as packed, open(self.path, "wb") as graph:
            graph.write(packed.read())
        self.feed_files = {file[:-4]: os.path.join(source, "feeds", file)
                           for file in sorted(os.listdir(os.path.join(source, "feeds")))}
        self.feeds = {feed: np.load(file) for feed, file in self.feed_files.items()}
        self.fetches = [file[:-4] for file in sorted(os.listdir(os.path.join(source, "fetches")))]
        self.answer = np.load(os.path.join(source, "fetches", self.fetches[0] + ".npy"))


class Ours:
    def __init__(self, model, graph_run, threads):
        self.command = [graph_run, "bench", model.path, "--json", "--threads", str(threads)]
        for feed, file in model.feed_files.items():
            self.command += ["--input", f"{feed}=@{file}"]
        for fetch in model.fetches:
            self.command += ["--output", fetch]

    def seconds(self, budget):
        result = subprocess.run(self.command + ["--seconds", str(budget)], check=True, capture_output=True)
        return json.loads(result.stdout)["min_us"] * 1e-6


class Peer:
    """`run` answers with the first fetch."""

    def seconds(self, budget):
        return shortest(self.run, budget)


class OpenVino(Peer):
    title = "OpenVINO"

    def __init__(self, model, threads):
        import openvino
        inputs = [(feed + ":0", list(value.shape)) for feed, value in model.feeds.items()]
        converted = openvino.convert_model(model.path, input=inputs)
        options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
                   "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False}
        self.compiled = openvino.Core().compile_model(converted, "CPU", options)
        self.request = self.compiled.create_infer_request()
        for port in self.compiled.inputs:
            feed = next(f for f in model.feeds if any(n.split(":")[0] == f for n in port.get_names()))
            self.request.set_tensor(port, openvino.Tensor(model.feeds[feed]))
        outputs = self.compiled.outputs
        self.place = next((i for i, port in enumerate(outputs)
                           if any(n.split(":")[0] == model.fetches[0] for n in port.get_names())), 0)

    def run(self):
        self.request.infer()
        return self.request.get_output_tensor(self.place).data


class OnnxRuntime(Peer):
    title = "ONNX Runtime"

    def __init__(self, model, threads):
        import onnxruntime
        import tensorflow as tf
        import tf2onnx
        definition = tf.compat.v1.GraphDef()
        with open(model.path, "rb") as file:
            definition.ParseFromString(file.read())
        proto, _ = tf2onnx.convert.from_graph_def(
            definition, input_names=[feed + ":0" for feed in model.feeds],
            output_names=[fetch if ":" in fetch else fetch + ":0" for fetch in model.fetches], opset=17)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(proto.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])
        self.feeds = {feed + ":0": value for feed, value in model.feeds.items()}

    def run(self):
        return self.session.run(None, self.feeds)[0]


class TensorFlow(Peer):
    title = "TensorFlow"

    def __init__(self, model, threads):
        import tensorflow as tf
        graph = tf.Graph()
        with graph.as_default():
            definition = tf.compat.v1.GraphDef()
            with open(model.path, "rb") as file:
                definition.ParseFromString(file.read())
            tf.import_graph_def(definition, name="")
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
        session = tf.compat.v1.Session(graph=graph, config=config)
        named = [fetch if ":" in fetch else fetch + ":0" for fetch in model.fetches]
        self.callable = session.make_callable(named, [feed + ":0" for feed in model.feeds])
        self.values = list(model.feeds.values())

    def run(self):
        return self.callable(*self.values)[0]


def median_and_interval(ratios):
    medians = np.median(RANDOM.choice(ratios, (2000, len(ratios))), axis=1)
    return np.median(ratios), *np.percentile(medians, [2.5, 97.5])


def make(peer, model, threads):
    """The peer's program for a model; none with the reason on stderr if there is none."""
    try:
        program = peer(model, threads)
        program.difference = float(np.max(np.abs(np.asarray(program.run(), np.float64) - model.answer)))
        return program
    except Exception as error:  # a peer may lack a package, an op, or a converter for it
        print(f"{model.name}: no {peer.title}: {str(error).splitlines()[0][:120]}", file=os.sys.stderr)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph-run", default="build/release/bin/graph_run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("models", nargs="*", default=["mobilenet_v2", "resnet50", "bert_tiny", "bert_base", "gpt2_small_64"])
    args = parser.parse_args()
    peers = [OpenVino, OnnxRuntime, TensorFlow]
    print(f"{'':16}{'ms':>9}" + "".join(f"{peer.title:>14} {'95 %':>14} {'differs':>9}" for peer in peers))
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models:
            model = Model(name, folder)
            programs = [Ours(model, args.graph_run, args.threads)] + [make(peer, model, args.threads) for peer in peers]
            times = np.array([[np.nan if p is None else p.seconds(args.seconds) for p in programs] for _ in range(args.rounds)])
            line = f"{name:16}{np.median(times[:, 0]) * 1e3:9.2f}"
            for place, program in enumerate(programs[1:], 1):
                if program is None:
                    line += f"{'':>14} {'':>14} {'':>9}"
                    continue
                ratio, low, high = median_and_interval(times[:, 0] / times[:, place])
                line += f"{ratio:14.2f} {f'[{low:.2f}, {high:.2f}]':>14} {program.difference:9.1e}"
            print(line, flush=True)


if __name__ == "__main__":
    main()

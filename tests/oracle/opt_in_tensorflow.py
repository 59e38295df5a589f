#!/usr/bin/env python3
"""Runs what `graph_run opt` writes in TensorFlow, with oneDNN off and on.

    tests/oracle/opt_in_tensorflow.py [--tensorflow PACKAGE]... [--models FOLDER]... [--only TEXT]

Every golden graph of the passes and every golden model is optimized for each target, run, and held
against what the same TensorFlow gives for the graph as it was. So are
the outputs of the golden passes that are written for TensorFlow. PACKAGE is the folder `tensorflow`
of an installed or unpacked package, of any version 2.x: the default is that of this Python, which
needs NumPy. A FOLDER holds models as tests/golden/models does. A package also says whether the
table of ops and attributes by version (grappler_lite/target/tensorflow_versions.cc) is right.

A table at the end counts, for each package, setting and target:
  right   runs, with the numbers of the graph as it was, without or with TensorFlow's optimizer
  refused neither the graph as it was runs there nor the optimized one
  spoilt  TensorFlow's own optimizer spoils the graph as it was too; without it the answer is right
  wrong   all else; each is told, and the exit code is 1
"""
import argparse
import collections
import hashlib
import importlib.util
import json
import lzma
import os
import pathlib
import re
import selectors
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = pathlib.Path(__file__).with_name("tensorflow_c.py")
TYPES = {"DT_FLOAT": 1, "DT_DOUBLE": 2, "DT_INT32": 3, "DT_UINT8": 4, "DT_INT16": 5, "DT_INT8": 6,
         "DT_COMPLEX64": 8, "DT_INT64": 9, "DT_BOOL": 10, "DT_BFLOAT16": 14, "DT_HALF": 19}
NUMPY_TYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6,
               "complex64": 8, "int64": 9, "bool": 10, "uint16": 17, "complex128": 18,
               "float16": 19, "uint32": 22, "uint64": 23}
SECONDS = 180  # the longest that a graph may take
# A golden graph's numbers, and those of graphs with 16-bit floats.
TOLERANCE, LOW_TOLERANCE = (1e-5, 2e-5), (2e-2, 2e-2)


class Worker:
    """A process with one TensorFlow in it, started anew when a graph ends it."""

    def __init__(self, package, onednn):
        self.package, self.onednn, self.process = package, onednn, None
        self.version = self._start()

    def _start(self):
        env = dict(os.environ, TF_ENABLE_ONEDNN_OPTS=str(self.onednn), TF_CPP_MIN_LOG_LEVEL="3")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, WORKER, self.package], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        return self._answer()["version"]

    def _answer(self):
        if self.selector.select(SECONDS):
            line = self.process.stdout.readline()
            if line:
                return json.loads(line)
        else:
            self.process.kill()
        code = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return {"error": f"TensorFlow ends with {code}: {' '.join(last)}", "version": "?"}

    def ask(self, **request):
        if self.process.poll() is not None:
            self._start()
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        self.process.kill()
        self.process.wait()


class Case:
    """A graph, what is fed and what is fetched. `expected`: the values to fall back on."""

    def __init__(self, name, graph, feeds, fetches, tolerance, flags=(), expected=None):
        self.name, self.graph, self.feeds, self.fetches = name, graph, feeds, fetches
        self.tolerance, self.flags, self.expected = tolerance, flags, expected
        self.written = []  # (target, file)


def header(text, key):
    found = re.search(rf"^# {key}: (.*)$", text, re.M)
    return found.group(1).split() if found else []


def placeholder(text, name):
    """Type and shape of a Placeholder in a text file; unknown sizes are 3."""
    for node in re.split(r"^node ", text, flags=re.M):
        if re.search(rf'name: "{re.escape(name)}"', node):
            dtype = re.search(r'key: "dtype"\s+value (?:\{|<)?\s*\{?\s*type: (\w+)', node).group(1)
            sizes = re.findall(r"size: (-?\d+)", node)
            return dtype, [3 if int(s) < 0 else int(s) for s in sizes]
    raise KeyError(name)


def ordinary(dtype, shape):
    """What tests/executor/passes/golden_passes_util.cc feeds."""
    cycle = {"DT_INT32": [1, -2, 0, 3, 1, -1], "DT_UINT8": [1, 2, 0, 255],
             "DT_BOOL": [True, False, False],
             "DT_COMPLEX64": [1 + 2j, -0.5 + 3j, -1j],
             "DT_HALF": [0x3E00, 0xC000, 0x0000, 0x3C00, 0xB800, 0x4100]}
    cycle["DT_BFLOAT16"] = cycle["DT_HALF"]
    kind = {"DT_FLOAT": np.float32, "DT_INT32": np.int32, "DT_UINT8": np.uint8, "DT_BOOL": np.bool_,
            "DT_COMPLEX64": np.complex64, "DT_HALF": np.uint16, "DT_BFLOAT16": np.uint16}[dtype]
    values = cycle.get(dtype, [0.75 * i - 3 for i in range(11)])
    return np.resize(np.array(values, kind), shape)


def golden_cases(graph_run, work):
    for path in sorted((ROOT / "tests/golden/passes").rglob("*.in.pbtxt")):
        text = path.read_text()
        fetches = header(text, "fetch")
        feeds = {name: (TYPES[kind], ordinary(kind, shape)) for name, (kind, shape) in
                 ((name, placeholder(text, name)) for name in header(text, "feed"))}
        low = "DT_HALF" in text or "DT_BFLOAT16" in text
        flags = ["--config", "min_graph_nodes: -1"]
        flags += ["--fast-math"] if header(text, "fast-math") else []
        name = f"{path.parent.name}/{path.name.removesuffix('.in.pbtxt')}"
        graph = convert(graph_run, path, fetches, work)
        case = Case(name, graph, feeds, fetches, LOW_TOLERANCE if low else TOLERANCE, flags)
        if "RandomUniform" in text and "seed2" not in text:
            case.tolerance = None  # other numbers in each run
        for target in header(text, "target"):
            if target != "tenon":
                out = path.with_name(path.name.replace(".in.", ".out."))
                case.written.append((target, convert(graph_run, out, fetches, work)))
        yield case


def convert(graph_run, path, fetches, work):
    """The binary form of a text file."""
    out = work / (str(path.relative_to(ROOT)).replace("/", "_") + ".pb")
    outputs = [f"--output={fetch}" for fetch in fetches]
    subprocess.run([graph_run, "opt", path, "--opt-level", "0", "-o", out, *outputs], check=True,
                   stdout=subprocess.DEVNULL)
    return out


def model_cases(folder, work):
    for path in sorted(folder.glob("*/graph.pb*")):
        if path.name not in ("graph.pb", "graph.pb.xz"):
            continue
        about = json.loads((path.parent / "model.json").read_text())
        graph = path
        if path.suffix == ".xz":
            graph = work / f"{path.parent.name}.pb"
            graph.write_bytes(lzma.decompress(path.read_bytes()))
        cases = sorted((path.parent / "cases").glob("*")) if (path.parent / "cases").exists() else []
        for case in [path.parent] + cases:
            feeds = {}
            for file in sorted((case / "feeds").rglob("*.npy")):
                value = np.load(file)
                node = str(file.relative_to(case / "feeds")).removesuffix(".npy")
                feeds[node] = (NUMPY_TYPES[value.dtype.name], value)
            expected = {str(file.relative_to(case / "fetches")).removesuffix(".npy"): np.load(file)
                        for file in sorted((case / "fetches").rglob("*.npy"))}
            name = path.parent.name + ("" if case == path.parent else f" ({case.name})")
            yield Case(name, graph, feeds, list(expected), (about["rtol"], about["atol"]),
                       expected=list(expected.values()))


def optimize(graph_run, case, target, work):
    """The file that opt writes; the same for the same graph, whatever is fed."""
    key = hashlib.sha256(f"{case.graph} {case.fetches} {target}".encode()).hexdigest()
    out = work / f"{key}.pb"
    if not out.exists():
        command = [graph_run, "opt", case.graph, "--target", target, "-o", out, *case.flags]
        for fetch in case.fetches:
            command += ["--output", fetch]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(result.stderr.strip().splitlines()[-1])
    return out


class Run:
    """All cases in one package with one setting."""

    def __init__(self, worker, work):
        self.worker, self.work, self.plain = worker, work, {}

    def answer(self, case, graph, grappler):
        feeds, results = self.work / "feeds.npz", self.work / "results.npz"
        np.savez(feeds, **{str(i): value for i, (_, value) in enumerate(case.feeds.values())})
        answer = self.worker.ask(graph=str(graph), feeds=str(feeds), results=str(results),
                                 types={name: dtype for name, (dtype, _) in case.feeds.items()},
                                 fetches=case.fetches, grappler=grappler)
        if "error" in answer:
            return answer["error"], None
        with np.load(results) as arrays:
            return None, {int(i): arrays[i] for i in arrays.files}

    def verdict(self, case, graph):
        if case.name not in self.plain:
            self.plain[case.name] = self.answer(case, case.graph, False)
        refusal, wanted = self.plain[case.name]
        if refusal is not None and case.expected is not None:
            wanted = dict(enumerate(case.expected))
        answer = self.answer(case, graph, True)
        fault = self.fault(case, answer, wanted)
        if not fault:
            return "right", ""
        unspoilt = self.answer(case, graph, False)
        if refusal is not None and unspoilt[0] is not None:
            return "refused", refusal
        as_it_was = self.answer(case, case.graph, True)
        if not self.fault(case, answer, as_it_was[1]) and as_it_was[1] is not None:
            return "right", ""
        if self.fault(case, as_it_was, wanted) and not self.fault(case, unspoilt, wanted):
            return "spoilt", fault
        return "wrong", fault

    @staticmethod
    def fault(case, answer, wanted):
        """What is wrong with an answer, or nothing."""
        error, got = answer
        if error is not None:
            return error
        if wanted is None or case.tolerance is None:
            return ""
        return compare(wanted, got, case.tolerance)


def compare(wanted, got, tolerance):
    """What is wrong with the arrays, or nothing."""
    for i, right in wanted.items():
        value = got.get(i)
        if value is None or value.shape != right.shape or value.dtype != right.dtype:
            return f"fetch {i} is of another shape or type"
        if right.dtype.kind not in "fc":
            if not np.array_equal(value, right):
                return f"fetch {i} has other values"
            continue
        with np.errstate(all="ignore"):
            off = np.abs(value.astype(np.complex128) - right.astype(np.complex128))
            fits = (value == right) | (np.isnan(value) & np.isnan(right))
            fits |= off <= tolerance[1] + tolerance[0] * np.abs(right)
        if not fits.all():
            return f"fetch {i}: off by {np.nanmax(np.where(fits, 0, off)):.3g}"
    return ""


def fields(message):
    """Those of a protobuf message that are varints or bytes."""
    position = 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, message[position:position + size]
            position += size
        else:
            position += 4 if key & 7 == 5 else 8


def wrong_versions(worker, minor, work):
    """Entries of the table by version that this TensorFlow contradicts."""
    worker.ask(op_list=str(work / "ops.pb"))
    there = set()
    for _, op in fields((work / "ops.pb").read_bytes()):
        parts = list(fields(op))
        name = next(value for number, value in parts if number == 1).decode()
        there.add(name)
        for number, value in parts:
            if number == 4:
                attr = next(v for n, v in fields(value) if n == 1).decode()
                there.add(f"{name}.{attr}")
    source = (ROOT / "grappler_lite/target/tensorflow_versions.cc").read_text()
    for row in re.finditer(r'\{(\d+),((?:\s*"[^"]*")+)\}', source):
        for name in "".join(re.findall(r'"([^"]*)"', row.group(2))).split():
            if name.split(".")[0] not in there and int(row.group(1)) <= minor and \
                    name.startswith("_Mkl"):
                continue  # of packages with oneDNN
            if (name in there) != (int(row.group(1)) <= minor):
                yield f"{name} is said to be there since 2.{row.group(1)}"


def targets_for(minor, onednn):
    """Those whose graphs this TensorFlow is to run, without those that say the same."""
    targets = ["tensorflow", f"tensorflow@2.{minor}"]
    return targets + [f"tensorflow@2.{minor}+onednn"] if onednn else targets


def applies(target, minor, onednn):
    version = re.search(r"@2\.(\d+)", target)
    oldest = int(version.group(1)) if version else 21 if "+onednn" in target else 0
    return oldest <= minor and (onednn or "+onednn" not in target)


def own_package():
    spec = importlib.util.find_spec("tensorflow")
    return [os.path.dirname(spec.origin)] if spec and spec.origin else []


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", action="append", metavar="PACKAGE")
    parser.add_argument("--models", action="append", type=pathlib.Path, default=[], metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has it")
    parser.add_argument("--onednn", default="01", choices=["0", "1", "01"])
    parser.add_argument("--verbose", action="store_true", help="tell what is refused and spoilt too")
    parser.add_argument("--graph-run", default=ROOT / "build/release/bin/graph_run")
    args = parser.parse_args()
    packages = args.tensorflow or own_package()
    if not packages:
        parser.error("this Python has no TensorFlow; name one with --tensorflow")
    tally = Tally(args.verbose)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        cases = list(golden_cases(args.graph_run, work))
        for i, models in enumerate([ROOT / "tests/golden/models"] + args.models):
            (work / str(i)).mkdir()
            cases += model_cases(models, work / str(i))
        cases = [case for case in cases if args.only in case.name]
        for package in packages:
            for onednn in map(int, args.onednn):
                run_package(args.graph_run, package, onednn, cases, work, tally)
    return tally.report()


class Tally:
    """What became of the cases."""

    def __init__(self, verbose):
        self.verbose = verbose
        self.counts, self.told, self.failed = collections.defaultdict(collections.Counter), [], 0

    def add(self, place, case, verdict, why):
        self.counts[place][verdict] += 1
        self.failed += verdict == "wrong"
        if verdict == "wrong" or self.verbose and verdict != "right":
            version, onednn, target = place
            self.told.append(f"{verdict}: TensorFlow {version}, oneDNN {'on' if onednn else 'off'}, "
                             f"{target}: {case}: {' '.join(why.split())}")

    def report(self):
        print(f"{'TensorFlow':12}{'oneDNN':8}{'target':32}"
              f"{'right':>8}{'refused':>9}{'spoilt':>8}{'wrong':>7}")
        for (version, onednn, target), count in self.counts.items():
            print(f"{version:12}{'on' if onednn else 'off':8}{target:32}{count['right']:8}"
                  f"{count['refused']:9}{count['spoilt']:8}{count['wrong']:7}")
        for line in self.told:
            print(line)
        right = sum(count["right"] for count in self.counts.values())
        print(f"{right} passed, {self.failed} failed")
        return 1 if self.failed or not right else 0


def run_package(graph_run, package, onednn, cases, work, tally):
    worker = Worker(package, onednn)
    minor = int(worker.version.split(".")[1])
    run = Run(worker, work)
    here = worker.version, onednn
    for line in wrong_versions(worker, minor, work):
        tally.add((*here, "table of versions"), "", "wrong", line)
    for case in cases:
        for target in targets_for(minor, onednn):
            try:
                verdict = run.verdict(case, optimize(graph_run, case, target, work))
            except RuntimeError as error:
                verdict = "wrong", f"opt: {error}"
            tally.add((*here, target), case.name, *verdict)
        for target, graph in case.written:
            if applies(target, minor, onednn):
                tally.add((*here, f"{target}, golden"), case.name, *run.verdict(case, graph))
    worker.close()


if __name__ == "__main__":
    sys.exit(main())

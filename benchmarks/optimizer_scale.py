#!/usr/bin/env python3
"""How the optimizer's time grows with the graph, beside TensorFlow's Grappler and ONNX Runtime's optimizer.

    benchmarks/optimizer_scale.py [GRAPH_RUN] [--sizes 1000,10000,...] [--only NAME,...] [--files GRAPH.pb ...]

Microseconds per node of the whole default pipeline, least of three runs; nodes left; peak memory. Peers are measured in
the same run where this Python has them (tensorflow, onnxruntime), up to --peer-nodes. Graphs:
  random       15 % constants, 15 % identities, 10 % duplicates, MatMul + BiasAdd + Relu, element by element
  fan          one node that all others wait for, one that waits for all others
  users        one constant with all other nodes for users
  identities   one chain
  doubled      one chain of sums of two equal operands
  lists        one chain of ConcatV2, each of which adds to the list before it
  functions    calls of a function each, of one node, that are not to be inlined
  nested       If within If, up to 200 deep: the bodies that are left of many are many
  constants    1.9 GB of them, whatever the size
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

FLOAT, INT32, BOOL = 1, 3, 10  # DT_FLOAT, ...


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value if isinstance(value, (bytes, bytearray)) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + bytes(value)


def dims(shape):
    return b"".join(text(2, number(1, d)) for d in shape)


class Node:
    def __init__(self, name, op, inputs=(), shape=None, value=None, attrs=None):
        self.name, self.op, self.inputs, self.shape, self.value = name, op, list(inputs), shape, value
        self.attrs = attrs  # all that it has, where that is not what others have

    def tensorflow(self):
        attrs = self.attrs if self.attrs is not None else {"dtype" if self.op in ("Const", "Placeholder") else "T": number(6, FLOAT)}
        if self.op == "Placeholder" and self.attrs is None:
            attrs["shape"] = text(7, dims(self.shape))
        if self.op == "Const" and self.attrs is None:
            attrs["value"] = text(8, number(1, FLOAT) + text(2, dims(self.shape)) + text(4, self.value))
        if self.op == "AddN":
            attrs["N"] = number(3, len(self.inputs))
        out = text(1, self.name) + text(2, self.op) + b"".join(text(3, i) for i in self.inputs)
        return out + b"".join(text(5, text(1, k) + text(2, v)) for k, v in attrs.items())

    def onnx(self):
        op = {"AddV2": "Add", "BiasAdd": "Add", "AddN": "Sum"}.get(self.op, self.op)
        return b"".join(text(1, i) for i in self.inputs) + text(2, self.name) + text(3, self.name) + text(4, op)


def write_tensorflow(nodes, path, functions=()):
    with open(path, "wb") as file:
        for node in nodes:
            file.write(text(1, node.tensorflow()))
        if functions:
            file.write(text(2, b"".join(text(1, f) for f in functions)))
        file.write(text(4, number(1, 2474)))


def write_onnx(nodes, path):
    def value_info(node):
        shape = b"".join(text(1, number(1, d)) for d in node.shape or ())
        return text(1, node.name) + text(2, text(1, number(1, FLOAT) + text(2, shape)))

    def part(node):
        if node.op == "Const":
            tensor = b"".join(number(1, d) for d in node.shape) + number(2, FLOAT) + text(8, node.name) + text(9, node.value)
            return text(5, tensor)
        return text(11, value_info(node)) if node.op == "Placeholder" else text(1, node.onnx())

    last = Node(nodes[-1].name, "", shape=nodes[0].shape)
    graph = text(2, "graph") + b"".join(map(part, nodes)) + text(12, value_info(last))
    with open(path, "wb") as file:
        file.write(number(1, 8) + text(7, graph) + text(8, number(2, 17)))


def random_graph(size):
    rng, side = random.Random(size), 8
    nodes = [Node("x", "Placeholder", shape=(side, side))]
    unused = {"x": None}

    def add(op, inputs, **more):
        for i in inputs:
            unused.pop(i, None)
        nodes.append(Node(f"n{len(nodes)}", op, inputs, **more))
        unused[nodes[-1].name] = None
        return nodes[-1].name

    def constant(shape):
        value = bytearray(4 * math.prod(shape))
        value[:4] = len(nodes).to_bytes(3, "little") + b"\x3e"
        return add("Const", (), shape=shape, value=bytes(value))

    def earlier():
        return nodes[rng.randrange(max(0, len(nodes) - 1000), len(nodes))]

    def operand():
        while True:
            node = earlier()
            if not (node.op == "Const" and len(node.shape) == 1):
                return node.name

    while len(nodes) < size:
        kind = rng.random()
        if kind < 0.10:
            constant((side, side))
        elif kind < 0.25:
            add("Identity", (operand(),))
        elif kind < 0.35:
            twin = earlier()
            if twin.inputs:
                add(twin.op, twin.inputs)
        elif kind < 0.40:
            product = add("MatMul", (operand(), constant((side, side))))
            add("Relu", (add("BiasAdd", (product, constant((side,)))),))
        elif kind < 0.60:
            add(rng.choice(("Tanh", "Neg", "Abs", "Relu", "Sigmoid")), (operand(),))
        else:
            add(rng.choice(("AddV2", "Mul", "Sub")), (operand(), operand()))
    shapes = {n.name: n.shape for n in nodes if n.op == "Const"}
    left = [n for n in unused if shapes.get(n) != (side,)]
    while len(left) > 1:
        left = [add("AddN", left[i : i + 64]) for i in range(0, len(left), 64)]
    return nodes


def fan(size):
    nodes = [Node("x", "Placeholder", shape=(2,)), Node("root", "Exp", ("x",))]
    middle = [f"n{i}" for i in range(size)]
    nodes += [Node(n, ("Tanh", "Exp")[i % 2], (middle[i - 2] if i > 1 else "x", "^root")) for i, n in enumerate(middle)]
    return nodes + [Node("y", "AddV2", middle[-2:] + ["^" + n for n in middle])]


def users(size):
    nodes = [Node("x", "Placeholder", shape=(2,)), Node("c", "Const", shape=(2,), value=b"\0\0\x80\x3f" * 2)]
    return nodes + [Node(f"n{i}", "AddV2", (f"n{i - 1}" if i else "x", "c")) for i in range(size)]


def identities(size):
    nodes = [Node("x", "Placeholder", shape=(2,))]
    nodes += [Node(f"n{i}", "Identity", (f"n{i - 1}" if i else "x",)) for i in range(size)]
    return nodes + [Node("y", "Neg", (f"n{size - 1}",))]


def doubled(size):
    nodes = [Node("x", "Placeholder", shape=(2,))]
    return nodes + [Node(f"n{i}", "AddV2", [f"n{i - 1}" if i else "x"] * 2) for i in range(size)]


def lists(size):
    axis = text(8, number(1, INT32) + text(2, b"") + text(4, bytes(4)))
    nodes = [Node("x", "Placeholder", shape=(1, 4)), Node("axis", "Const", attrs={"dtype": number(6, INT32), "value": axis})]
    attrs = {"T": number(6, FLOAT), "Tidx": number(6, INT32), "N": number(3, 2)}
    return nodes + [Node(f"n{i}", "ConcatV2", (f"n{i - 1}" if i else "x", "x", "axis"), attrs=attrs) for i in range(size)]


def types(*list_of):
    return text(1, b"".join(number(6, t) for t in list_of))


def function(name, args, nodes, result, noinline=False):
    def arg(name, dtype):
        return text(1, name) + number(3, dtype)

    signature = text(1, name) + b"".join(text(2, arg(*a)) for a in args) + text(3, arg("r", FLOAT))
    out = text(1, signature) + b"".join(text(3, n.tensorflow()) for n in nodes)
    out += text(4, text(1, "r") + text(2, result))
    return out + (text(5, text(1, "_noinline") + text(2, number(5, 1))) if noinline else b"")


def functions(size):
    attrs = {"Tin": types(FLOAT), "Tout": types(FLOAT)}
    nodes = [Node("x", "Placeholder", shape=(2,))]
    for i in range(size // 2):
        f = text(10, text(1, f"f{i}"))
        nodes.append(Node(f"n{i}", "PartitionedCall", (f"n{i - 1}" if i else "x",), attrs={"f": f, **attrs}))
    body = [Node("a", "Neg", ("x",))]
    return nodes, [function(f"f{i}", [("x", FLOAT)], body, "a:y:0", noinline=True) for i in range(size // 2)]


def nested(size):
    attrs = {"Tcond": number(6, BOOL), "Tin": types(BOOL, FLOAT), "Tout": types(FLOAT)}

    def branch(name, inputs, then):
        named = {"then_branch": text(10, text(1, then)), "else_branch": text(10, text(1, "leaf"))}
        return Node(name, "StatelessIf", inputs, attrs={**attrs, **named})

    args = [("p", BOOL), ("x", FLOAT)]
    nodes = [Node("p", "Placeholder", attrs={"dtype": number(6, BOOL), "shape": text(7, b"")}), Node("x", "Placeholder", shape=(2,))]
    made = [function("leaf", args, [Node("a", "Exp", ("x",))], "a:y:0")]
    for i in range(size // 2):
        inner = f"f{i + 1}" if i % 200 != 199 and i + 1 < size // 2 else "leaf"
        made.append(function(f"f{i}", args, [branch("c", ("p", "p", "x"), inner), Node("a", "Neg", ("c:output:0",))], "a:y:0"))
        if i % 200 == 0:
            before = nodes[-1].name
            nodes.append(branch(f"n{i}", ("p", "p", before), f"f{i}"))
    return nodes, made


def write_constants(path, count=19, elements=25_000_000):
    """Sparse on disk: each constant differs from the others in its first element only."""
    with open(path, "wb") as file:
        file.write(text(1, Node("x", "Placeholder", shape=(elements,)).tensorflow()))
        for i in range(count):
            bytes_in_value = 4 * elements
            tensor = number(1, FLOAT) + text(2, dims((elements,))) + varint(4 << 3 | 2) + varint(bytes_in_value)
            value = varint(8 << 3 | 2) + varint(len(tensor) + bytes_in_value) + tensor
            entry = text(1, "value") + varint(2 << 3 | 2) + varint(len(value) + bytes_in_value) + value
            head = text(1, f"c{i}") + text(2, "Const") + text(5, text(1, "dtype") + text(2, number(6, FLOAT)))
            head += varint(5 << 3 | 2) + varint(len(entry) + bytes_in_value) + entry
            file.write(varint(1 << 3 | 2) + varint(len(head) + bytes_in_value) + head + (i + 1).to_bytes(4, "little"))
            file.seek(bytes_in_value - 4, os.SEEK_CUR)
        for i in range(count):
            file.write(text(1, Node(f"n{i}", "AddV2", (f"n{i - 1}" if i else "x", f"c{i}")).tensorflow()))
        file.write(text(4, number(1, 2474)))


def make(name, size, path):
    made = {"random": random_graph, "fan": fan, "users": users, "identities": identities, "doubled": doubled,
            "lists": lists, "functions": functions, "nested": nested}[name](size)
    nodes, library = made if isinstance(made, tuple) else (made, ())
    write_tensorflow(nodes, path + ".pb", library)
    if name in ("random", "users", "identities", "doubled"):
        write_onnx(nodes, path + ".onnx")


def run(command, timeout=600):
    """Standard output and peak memory in MB; None where it failed or took too long."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - start > timeout:
                process.kill()
                os.wait4(process.pid, 0)
                return None, None
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return (out.read(), usage.ru_maxrss / 1024) if process.returncode == 0 else (None, None)


def measure(graph_run, path):
    best, answer, memory = None, None, None
    for _ in range(3):
        out, peak = run([graph_run, "opt", path, "--json"])
        if out is None:
            return None
        answer = json.loads(out)
        took = sum(p["time_us"] for p in answer["passes"])
        best, memory = min(took, best or took), peak
    before = answer["nodes_before"] + answer.get("function_nodes_before", 0)
    return best, before, answer["nodes_after"] + answer.get("function_nodes_after", 0), memory


def peer(kind, path):
    out, _ = run([sys.executable, __file__, "--peer", kind, path], timeout=180)
    return f"{float(out.split()[-1]):10.1f}" if out else f"{'-':>10}"


def peer_tensorflow(path):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorflow.compat.v1 import GraphDef, Graph, import_graph_def, train
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.grappler import cluster, tf_optimizer

    graph_def = GraphDef()
    with open(path, "rb") as file:
        graph_def.ParseFromString(file.read())
    for node in graph_def.node:
        node.device = "/device:CPU:0"
    used = {i.split(":")[0].lstrip("^") for n in graph_def.node for i in n.input}
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        item = train.export_meta_graph(graph_def=graph_def, graph=graph)
    item.collection_def["train_op"].node_list.value.extend(n.name for n in graph_def.node if n.name not in used)
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.min_graph_nodes = -1
    start = time.monotonic()
    tf_optimizer.OptimizeGraph(config, item, cluster=cluster.Cluster(disable_detailed_stats=True))
    return (time.monotonic() - start) * 1e6 / len(graph_def.node)


def peer_onnxruntime(path):
    import onnxruntime as ort

    def create(level):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        start = time.monotonic()
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return time.monotonic() - start

    levels = ort.GraphOptimizationLevel
    create(levels.ORT_DISABLE_ALL)
    nodes = int(os.path.basename(path).split("_")[1].split(".")[0])
    return (create(levels.ORT_ENABLE_ALL) - create(levels.ORT_DISABLE_ALL)) * 1e6 / nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph_run", nargs="?", default="build/release/bin/graph_run")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--only", default="random,fan,users,identities,doubled,lists,functions,nested,constants")
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--peer-nodes", type=int, default=20000)
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        print({"tensorflow": peer_tensorflow, "onnxruntime": peer_onnxruntime}[args.peer[0]](args.peer[1]))
        return
    if args.make:
        make(args.make[0], int(args.make[1]), args.make[2])
        return
    print(f"{'graph':12} {'nodes':>8} {'left':>8} {'us/node':>10} {'grappler':>10} {'onnxrt':>10} {'peak MB':>8}")

    def row(name, path, onnx=None, most=args.peer_nodes):
        got = measure(args.graph_run, path)
        if got is None:
            print(f"{name:12} failed")
            return None
        took, before, after, memory = got
        grappler = peer("tensorflow", path) if before <= most else f"{'-':>10}"
        ort = peer("onnxruntime", onnx) if onnx and before <= most else f"{'-':>10}"
        print(f"{name:12} {before:8} {after:8} {took / before:10.2f} {grappler} {ort} {memory:8.0f}", flush=True)
        return took, before

    with tempfile.TemporaryDirectory() as work:
        for name in args.only.split(","):
            if name == "constants":
                write_constants(f"{work}/constants.pb")
                row(name, f"{work}/constants.pb", most=0)
                continue
            rows = []
            for size in map(int, args.sizes.split(",")):
                # By another process: the peak memory of a child is at least that of its parent.
                run([sys.executable, __file__, "--make", name, str(size), f"{work}/{name}_{size}"])
                onnx = f"{work}/{name}_{size}.onnx"
                rows.append(row(name, f"{work}/{name}_{size}.pb", onnx if os.path.exists(onnx) else None))
            if len(rows) > 1 and rows[0] and rows[-1]:
                (a, n), (b, m) = rows[0], rows[-1]
                print(f"{name:12} time grows as nodes ^ {math.log(b / a) / math.log(m / n):.2f}")
        for path in args.files:
            row(os.path.basename(os.path.dirname(path)) or path, path)


if __name__ == "__main__":
    main()

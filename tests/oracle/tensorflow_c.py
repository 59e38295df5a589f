"""TensorFlow through its C API, so that any Python with NumPy runs any TensorFlow 2.x package.

As a program: a worker that loads the package in argv[1] and runs graphs, one JSON line each way.
The process may die of a graph; who asked sees the end of the pipe.
"""
import ctypes
import hashlib  # noqa: F401  before TensorFlow, whose BoringSSL has the names of OpenSSL
import json
import os
import sys

import numpy as np
import numpy.random  # noqa: F401  likewise

LIBRARIES = ("libtensorflow_cc.so.2", "python/_pywrap_tensorflow_internal.so")
DTYPES = {1: np.float32, 2: np.float64, 3: np.int32, 4: np.uint8, 5: np.int16, 6: np.int8,
          8: np.complex64, 9: np.int64, 10: np.bool_, 14: np.uint16, 17: np.uint16,
          18: np.complex128, 19: np.float16, 22: np.uint32, 23: np.uint64}
BFLOAT16, STRING = 14, 7
P = ctypes.c_void_p
# ConfigProto with allow_soft_placement, and with graph_options.rewrite_options.disable_meta_optimizer.
SOFT_PLACEMENT, NO_GRAPPLER = b"\x38\x01", b"\x52\x05\x52\x03\x98\x01\x01"


class Buffer(ctypes.Structure):
    _fields_ = [("data", P), ("length", ctypes.c_size_t), ("deallocator", P)]


class Output(ctypes.Structure):
    _fields_ = [("node", P), ("port", ctypes.c_int)]


class Failed(Exception):
    """What TensorFlow answers with a status other than OK."""


class TensorFlow:
    """One package, the folder `tensorflow` or `tensorflow_core` of it."""

    def __init__(self, package):
        paths = [os.path.join(package, name) for name in LIBRARIES]
        found = [path for path in paths if os.path.exists(path)]
        if not found:
            raise FileNotFoundError(f"{package}: none of {', '.join(LIBRARIES)}")
        self.lib = self._load(found[0])
        for name in ("TF_NewStatus TF_NewGraph TF_NewSessionOptions TF_NewImportGraphDefOptions "
                     "TF_NewSession TF_GraphOperationByName TF_TensorData TF_AllocateTensor "
                     "TF_NewBufferFromString TF_GetAllOpList").split():
            getattr(self.lib, name).restype = P
        for name in ("TF_Message", "TF_Version"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.TF_TensorByteSize.restype = ctypes.c_size_t
        self.lib.TF_Dim.restype = ctypes.c_int64

    @staticmethod
    def _load(path):
        try:
            return ctypes.CDLL(path, mode=os.RTLD_LAZY)
        except OSError as error:
            # Packages before 2.5 want a variable that Pythons since 3.9 no longer have.
            if "_Py_CheckRecursionLimit" not in str(error):
                raise
        stub = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"recursion_limit_{os.getpid()}.so")
        os.system(f"echo 'int _Py_CheckRecursionLimit = 1000;' | cc -shared -fPIC -xc - -o {stub}")
        ctypes.CDLL(stub, mode=ctypes.RTLD_GLOBAL)
        os.unlink(stub)
        return ctypes.CDLL(path, mode=os.RTLD_LAZY)

    def version(self):
        return self.lib.TF_Version().decode()

    def op_list(self):
        buffer = ctypes.cast(self.lib.TF_GetAllOpList(), ctypes.POINTER(Buffer)).contents
        return ctypes.string_at(buffer.data, buffer.length)

    def _check(self, status):
        if self.lib.TF_GetCode(P(status)):
            raise Failed(self.lib.TF_Message(P(status)).decode(errors="replace"))

    def run(self, graph_def, feeds, fetches, grappler):
        """feeds: name -> (dtype, array); fetches: "node", "node:1" or "^node". Answers the arrays
        of those that are not "^node", None for types that NumPy lacks."""
        lib, status, graph = self.lib, self.lib.TF_NewStatus(), self.lib.TF_NewGraph()
        buffer = lib.TF_NewBufferFromString(graph_def, ctypes.c_size_t(len(graph_def)))
        options = lib.TF_NewImportGraphDefOptions()
        lib.TF_GraphImportGraphDef(P(graph), P(buffer), P(options), P(status))
        self._check(status)
        options = lib.TF_NewSessionOptions()
        config = SOFT_PLACEMENT + (b"" if grappler else NO_GRAPPLER)
        lib.TF_SetConfig(P(options), config, ctypes.c_size_t(len(config)), P(status))
        self._check(status)
        session = lib.TF_NewSession(P(graph), P(options), P(status))
        self._check(status)

        def output(name):
            node, _, port = name.lstrip("^").partition(":")
            found = lib.TF_GraphOperationByName(P(graph), node.encode())
            if not found:
                raise Failed(f"no node {node}")
            return Output(found, int(port or 0))

        def array_of(kind, values):
            return (kind * max(1, len(values)))(*values)

        fed = array_of(P, [self._tensor(dtype, value) for dtype, value in feeds.values()])
        values = [f for f in fetches if not f.startswith("^")]
        targets = [output(f).node for f in fetches if f.startswith("^")]
        results = array_of(P, [None] * len(values))
        try:
            lib.TF_SessionRun(P(session), None, array_of(Output, [output(f) for f in feeds]), fed,
                              len(feeds), array_of(Output, [output(f) for f in values]), results,
                              len(values), array_of(P, targets), len(targets), None, P(status))
            self._check(status)
            return [self._array(P(result)) for result in results][:len(values)]
        finally:
            lib.TF_CloseSession(P(session), P(status))
            lib.TF_DeleteSession(P(session), P(status))
            lib.TF_DeleteGraph(P(graph))

    def _tensor(self, dtype, value):
        value = np.array(value, order="C")
        dims = (ctypes.c_int64 * max(1, value.ndim))(*value.shape)
        tensor = self.lib.TF_AllocateTensor(dtype, dims, value.ndim, ctypes.c_size_t(value.nbytes))
        ctypes.memmove(self.lib.TF_TensorData(P(tensor)), value.ctypes.data, value.nbytes)
        return tensor

    def _array(self, tensor):
        dtype = self.lib.TF_TensorType(tensor)
        if dtype not in DTYPES:
            return None
        shape = [self.lib.TF_Dim(tensor, d) for d in range(self.lib.TF_NumDims(tensor))]
        array = np.empty(shape, DTYPES[dtype])
        ctypes.memmove(array.ctypes.data, self.lib.TF_TensorData(tensor), array.nbytes)
        if dtype == BFLOAT16:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what TensorFlow prints
    tensorflow = TensorFlow(sys.argv[1])
    print(json.dumps({"version": tensorflow.version()}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        try:
            if "op_list" in request:
                with open(request["op_list"], "wb") as file:
                    file.write(tensorflow.op_list())
            else:
                with open(request["graph"], "rb") as file:
                    graph_def = file.read()
                with np.load(request["feeds"]) as fed:
                    feeds = {name: (dtype, fed[str(i)])
                             for i, (name, dtype) in enumerate(request["types"].items())}
                results = tensorflow.run(graph_def, feeds, request["fetches"], request["grappler"])
                np.savez(request["results"],
                         **{str(i): r for i, r in enumerate(results) if r is not None})
        except (Failed, OSError) as error:
            answer["error"] = str(error) or "failed"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

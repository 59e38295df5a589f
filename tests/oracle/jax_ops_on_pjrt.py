#!/usr/bin/env python3
"""Runs JAX's functions, each with every type that it takes, on a PJRT plug-in and on JAX's own CPU.

    VENV/bin/python tests/oracle/jax_ops_on_pjrt.py [build/release/lib/plugins/libpjrt_reference.so]

Prints what differs, and at the end how many cases there were. Cases that JAX's CPU refuses do not
count. VENV is that of jax_on_pjrt.py. Not part of CI, which has no JAX.
"""
import itertools
import sys
import warnings

import numpy as np

import jax
from jax._src import xla_bridge

LIBRARY = sys.argv[1] if len(sys.argv) > 1 else "build/release/lib/plugins/libpjrt_reference.so"
warnings.filterwarnings("ignore")
xla_bridge.register_plugin("reference", library_path=LIBRARY, options={})
jax.config.update("jax_platforms", "reference,cpu")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402  after the platforms are chosen
from jax import lax  # noqa: E402

DEVICES = (jax.devices("cpu")[0], jax.devices("reference")[0])
RNG = np.random.default_rng(1)
TYPES = [np.float32, np.float64, np.float16, jnp.bfloat16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
         np.uint32, np.uint64, np.bool_, np.complex64, np.complex128]
# Relative and absolute, by type.
TOLERANCES = {np.dtype(np.float16): 4e-3, np.dtype(jnp.bfloat16): 2e-2, np.dtype(np.float32): 2e-5,
              np.dtype(np.float64): 1e-11, np.dtype(np.complex64): 3e-5, np.dtype(np.complex128): 1e-11}

UNARY = """neg abs exp exp2 expm1 log log1p sqrt rsqrt cbrt tanh tan sin cos logistic floor ceil round sign is_finite
           bitwise_not population_count clz erf erfc erf_inv lgamma digamma asin acos atan sinh cosh asinh acosh atanh
           real imag conj square""".split()
BINARY = """add sub mul div rem max min pow atan2 bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical
            shift_right_arithmetic eq ne lt le gt ge nextafter complex""".split()
# Of one array of 4 x 6.
ARRAY = {
    "sum": lambda x: jnp.sum(x, 1, dtype=x.dtype),
    "prod": lambda x: jnp.prod(x[:, :3], 0, dtype=x.dtype),
    "max": lambda x: jnp.max(x, 0),
    "min": lambda x: jnp.min(x),
    "any": lambda x: jnp.any(x, 1),
    "all": lambda x: jnp.all(x, 0),
    "argmax": lambda x: jnp.argmax(x, 1),
    "argmin": lambda x: jnp.argmin(x, 0),
    "sort": lambda x: jnp.sort(x, 1),
    "argsort": lambda x: jnp.argsort(x, 0),
    "cumsum": lambda x: jnp.cumsum(x, 1),
    "cummax": lambda x: lax.cummax(x, 1),
    "top_k": lambda x: lax.top_k(x, 2),
    "stride": lambda x: x[::-1, ::2],
    "roll": lambda x: jnp.roll(x, 2, 1),
    "pad": lambda x: lax.pad(x, jnp.zeros((), x.dtype), [(1, -1, 2), (-1, 2, 0)]),
    "reverse": lambda x: lax.rev(x, (0, 1)),
    "where": lambda x: jnp.where(x == x[0], x, x[::-1]),
    "clamp": lambda x: lax.clamp(x[0, 0], x, x[1, 1]),
    "matmul": lambda x: x @ x.T,
    "einsum": lambda x: jnp.einsum("ij,kj->jik", x, x),
    "gather": lambda x: x[np.array([[0, 3], [1, 1]]), 1:3],
    "take": lambda x: jnp.take(x, np.array([5, 0, 9]), axis=1, mode="clip"),
    "scatter": lambda x: x.at[np.array([0, 0, 3]), 1].set(x[0, 0]),
    "scatter add": lambda x: x.at[np.array([0, 0, 3])].add(x[:3]),
    "scatter max": lambda x: x.at[:, np.array([1, 1, 2])].max(x[:, :3]),
    "scatter outside": lambda x: x.at[np.array([0, 9])].multiply(x[:2]),
    "dynamic slice": lambda x: lax.dynamic_slice(x, (jnp.int32(9), jnp.int32(1)), (2, 3)),
    "update slice": lambda x: lax.dynamic_update_slice(x, x[:2, :2], (jnp.int32(-5), jnp.int32(9))),
    "search": lambda x: jnp.searchsorted(jnp.sort(x[0]), x[1]),
    "window": lambda x: lax.reduce_window(x, jnp.zeros((), x.dtype), lax.add, (2, 3), (1, 2), [(1, 0), (0, 1)],
                                          base_dilation=(2, 1), window_dilation=(1, 2)),
    "convolution": lambda x: lax.conv_general_dilated(
        x[None, :, :, None], x[:3, :2, None, None], (2, 1), [(1, 2), (0, 1)], lhs_dilation=(1, 2), rhs_dilation=(2, 1),
        dimension_numbers=("NHWC", "HWIO", "NHWC")),
    "groups": lambda x: lax.conv_general_dilated(x[None], x.reshape(4, 6)[:, None, :], (1,), "SAME", feature_group_count=6,
                                                 dimension_numbers=("NWC", "WIO", "NWC")),
    "batch groups": lambda x: lax.conv_general_dilated(x.reshape(4, 3, 2), x[:2].reshape(2, 2, 3)[:, :, :2], (1,), "VALID",
                                                       batch_group_count=2, dimension_numbers=("NWC", "WIO", "NWC")),
}


def values(dtype, shape, special):
    """Small numbers; with `special` also limits, infinities, NaN and zeros of both signs."""
    kind = np.dtype(dtype).kind
    if dtype == np.bool_:
        return RNG.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        info = np.iinfo(dtype)
        made = RNG.integers(max(info.min, -20), min(info.max, 20), shape).astype(dtype)
        if special:
            made.flat[:3] = [info.min, info.max, 0]
        return made
    made = RNG.normal(size=shape) * 3
    if kind == "c":
        return (made + 3j * RNG.normal(size=shape)).astype(dtype)
    if special:
        made.flat[:6] = [np.inf, -np.inf, np.nan, -0.0, 0.0, 1e-3]
    return made.astype(dtype)


class Sweep:
    def __init__(self):
        self.cases = self.wrong = 0

    def run(self, name, function, *arguments):
        try:
            jax.eval_shape(function, *arguments)
        except Exception:  # noqa: BLE001  a type that the function does not take
            return
        answers = []
        for device in DEVICES:
            try:
                with jax.default_device(device):
                    out = jax.jit(function)(*[jax.device_put(a, device) for a in arguments])
                answers.append([np.asarray(x) for x in jax.tree.leaves(out)])
            except Exception as error:  # noqa: BLE001
                answers.append(str(error).strip().splitlines()[0])
        if isinstance(answers[0], str):
            return
        self.cases += 1
        if isinstance(answers[1], str):
            self.tell(f"{name}: {answers[1]}")
            return
        for expected, found in zip(*answers):
            if not self.same(expected, found):
                self.tell(f"{name}: {found.ravel()[:4]} where {expected.ravel()[:4]} is right")
                return

    def tell(self, what):
        self.wrong += 1
        print("WRONG ", what)

    @staticmethod
    def same(expected, found):
        tolerance = TOLERANCES.get(expected.dtype)
        if tolerance is None:
            return np.array_equal(expected, found)
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        return np.allclose(expected.astype(wide), found.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True)


def elementwise(sweep):
    for name, dtype in itertools.product(UNARY, TYPES):
        special = name not in ("lgamma", "digamma", "erf_inv")
        sweep.run(f"{name} {np.dtype(dtype)}", getattr(lax, name), values(dtype, (3, 4), special))
    for name, dtype in itertools.product(BINARY, TYPES):
        sweep.run(f"{name} {np.dtype(dtype)}", getattr(lax, name), values(dtype, (3, 4), True), values(dtype, (3, 4), True)[::-1])
    for source, target in itertools.product(TYPES, TYPES):
        made = values(source, (3, 4), False)
        if np.dtype(target).kind == "u" and np.dtype(source).kind not in "iub":
            made = np.abs(made)  # What becomes of negative numbers differs from processor to processor.
        sweep.run(f"convert {np.dtype(source)} to {np.dtype(target)}", lambda x, t=target: lax.convert_element_type(x, t), made)


def arrays(sweep):
    for name, dtype in itertools.product(ARRAY, TYPES):
        sweep.run(f"{name} {np.dtype(dtype)}", ARRAY[name], values(dtype, (4, 6), False))


def others(sweep):
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        x = values(dtype, (4, 4), False)
        positive = (x @ x.conj().T + 10 * np.eye(4)).astype(dtype)
        sweep.run(f"cholesky {np.dtype(dtype)}", jnp.linalg.cholesky, positive)
        for left, lower, turned, unit in itertools.product((False, True), repeat=4):
            sweep.run(f"triangular solve {np.dtype(dtype)} {left} {lower} {turned} {unit}",
                      lambda a, b, s=left, l=lower, t=turned, u=unit: lax.linalg.triangular_solve(
                          a, b, left_side=s, lower=l, transpose_a=t, conjugate_a=t, unit_diagonal=u), positive, x / 10)
        sweep.run(f"fft {np.dtype(dtype)}", jnp.fft.fft2, x)
        sweep.run(f"real fft {np.dtype(dtype)}", lambda a: jnp.fft.irfft(jnp.fft.rfft(a.real), n=5), x)
    for algorithm, shape, dtype in itertools.product(lax.RandomAlgorithm.__members__.values(), ((2,), (5,), (3, 3), (2, 3)),
                                                     (np.uint8, np.uint32, np.uint64)):
        sweep.run(f"random bits {algorithm} {shape} {np.dtype(dtype)}",
                  lambda key, a=algorithm, s=shape, d=dtype: lax.rng_bit_generator(key, s, d, algorithm=a),
                  np.array([1, 2], np.uint64))


def main():
    sweep = Sweep()
    elementwise(sweep)
    arrays(sweep)
    others(sweep)
    print(f"{sweep.cases} cases, {sweep.wrong} wrong")
    sys.exit(1 if sweep.wrong else 0)


if __name__ == "__main__":
    main()

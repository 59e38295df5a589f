#!/usr/bin/env python3
"""Runs JAX on a PJRT plug-in, the reference plug-in by default, and compares with NumPy.

    python3 -m venv VENV && VENV/bin/pip install jax
    VENV/bin/python tests/oracle/jax_on_pjrt.py [build/release/lib/plugins/libpjrt_reference.so]

JAX sends portable artifacts in MLIR's bytecode, uploads, donates and asks for much that a host of
graphs does not. Not part of CI, which has no JAX.
"""
import sys

import numpy as np

import jax
from jax._src import xla_bridge

LIBRARY = sys.argv[1] if len(sys.argv) > 1 else "build/release/lib/plugins/libpjrt_reference.so"
xla_bridge.register_plugin("reference", library_path=LIBRARY, options={"device_count": 2})
jax.config.update("jax_platforms", "reference")

import jax.numpy as jnp  # noqa: E402  after the platform is chosen
from jax import lax  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 6)).astype(np.float32)
IMAGE = RNG.normal(size=(1, 8, 8, 3)).astype(np.float32)
FILTER = RNG.normal(size=(3, 3, 3, 5)).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def convolved(image, kernel):
    padded = np.pad(image, ((0, 0), (0, 1), (0, 1), (0, 0)))
    out = np.zeros((1, 4, 4, 5), np.float32)
    for i in range(4):
        for j in range(4):
            out[0, i, j] = np.tensordot(padded[0, 2 * i:2 * i + 3, 2 * j:2 * j + 3], kernel, 3)
    return out


def scattered(x):
    out = x.copy()
    np.add.at(out, [0, 0, 2], 1.0)
    return out


# Name, JAX's function, arguments, what NumPy gives.
CASES = [
    ("dense", lambda a: jnp.tanh(a @ a.T) + 1, (X,), np.tanh(X @ X.T) + 1),
    ("softmax", lambda a: jax.nn.softmax(a), (X,), softmax(X)),
    ("sort", lambda a: jnp.sort(a, axis=1), (X,), np.sort(X, 1)),
    ("argmax", lambda a: jnp.argmax(a, axis=1), (X,), X.argmax(1)),
    ("cumsum", lambda a: jnp.cumsum(a, axis=1), (X,), X.cumsum(1)),
    ("loop", lambda a: lax.fori_loop(0, 10, lambda i, v: v * 1.1, a), (X,), X * 1.1**10),
    ("scan", lambda a: lax.scan(lambda c, v: (c + v, c), jnp.zeros(6), a)[0], (X,), X.sum(0)),
    ("cond", lambda a: lax.cond(a.sum() > 0, lambda v: v, lambda v: -v, a), (X,), X * np.sign(X.sum())),
    ("gather", lambda a: a[np.array([3, 0])], (jnp.asarray(X),), X[[3, 0]]),
    ("scatter", lambda a: a.at[np.array([0, 0, 2])].add(1.0), (X,), scattered(X)),
    ("convolution",
     lambda a, b: lax.conv_general_dilated(a, b, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
     (IMAGE, FILTER), convolved(IMAGE, FILTER)),
    ("maximum pool", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (IMAGE,),
     IMAGE.reshape(1, 4, 2, 4, 2, 3).max((2, 4))),
    ("gradient", jax.grad(lambda a: jnp.sum(jnp.tanh(a)**2)), (X,), 2 * np.tanh(X) * (1 - np.tanh(X)**2)),
    ("cholesky", lambda a: jnp.linalg.cholesky(a @ a.T + 10 * jnp.eye(4)), (X,),
     np.linalg.cholesky(X @ X.T + 10 * np.eye(4))),
    ("fft", lambda a: jnp.fft.fft(a), (X,), np.fft.fft(X)),
    ("top k", lambda a: lax.top_k(a, 3)[0], (X,), -np.sort(-X, 1)[:, :3]),
    # JAX's random numbers are the same on all platforms.
    ("random", lambda: jax.random.bits(jax.random.key(1), (3,), jnp.uint32), (),
     np.array([1883912375, 2292451390, 1915204986], np.uint32)),
]


def main():
    wrong = 0
    for name, function, arguments, expected in CASES:
        try:
            np.testing.assert_allclose(np.asarray(jax.jit(function)(*arguments)), expected, rtol=1e-4, atol=1e-4)
            print(f"right  {name}")
        except Exception as error:  # noqa: BLE001  any failure is told, and the next case runs
            wrong += 1
            print(f"WRONG  {name}: {str(error).strip().splitlines()[0]}")
    second = jax.device_put(X, jax.devices()[1])
    np.testing.assert_allclose(np.asarray(jax.jit(lambda a: a * 2)(second)), X * 2)
    print("right  on the second device")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""opencl_in_tensorflow.py LIBRARY: TensorFlow loads the plug-in for OpenCL devices and computes on it.

Runs a Relu, a MatMul and, where the plug-in has variables (TensorFlow up to 2.18), five steps of a
training, on OPENCL:0 and on the CPU, and compares the numbers. Needs a TensorFlow for CPUs outside
the tree. TensorFlow exports an LLVM of its own, in which PoCL's would get lost: this program opens
PoCL first, in a scope of its own. The plug-in names no library of TensorFlow, so the program makes
the functions of libtensorflow_cc visible.
"""
import ctypes
import glob
import os
import sys

for pocl in sorted(glob.glob("/usr/lib/*/libpocl.so.*"))[-1:]:
    ctypes.CDLL(pocl, mode=os.RTLD_NOW | os.RTLD_DEEPBIND)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import load_library  # noqa: E402

FOLDER = os.path.dirname(tf.__file__)
for name in ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2"):
    ctypes.CDLL(os.path.join(FOLDER, name), mode=ctypes.RTLD_GLOBAL)
load_library.load_pluggable_device_library(sys.argv[1])


def has_variables():
    library = ctypes.CDLL(os.path.join(FOLDER, "libtensorflow_cc.so.2"))
    return hasattr(library, "TF_MaybeLockVariableInputMutexesInOrder")


def numbers(device):
    """What the device computes: a list of arrays."""
    with tf.device(device):
        x = tf.constant(np.linspace(-2, 2, 12, dtype="f4").reshape(3, 4))
        product = tf.matmul(x, tf.ones((4, 5)))
        assert device in product.device, product.device
        found = [tf.nn.relu(x).numpy(), product.numpy()]
        weights = tf.Variable(tf.ones((4, 5)))

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                y = tf.nn.relu(tf.matmul(x, weights)) * 0.5 + 0.25
                loss = tf.reduce_sum(tf.square(tf.tanh(y) - 1.0))
            gradient = tape.gradient(loss, weights)
            if has_variables():
                weights.assign_sub(0.01 * gradient)
            return loss, gradient

        for _ in range(5):
            found += [value.numpy() for value in step()]
    return found


ours, theirs = numbers("OPENCL:0"), numbers("CPU:0")
for got, want in zip(ours, theirs):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
print(f"TensorFlow {tf.__version__}: {len(ours)} results agree, variables {'on the device' if has_variables() else 'unchanged'}")

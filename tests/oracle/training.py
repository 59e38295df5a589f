#!/usr/bin/env python3
"""training.py [BUILD_DIR]: trains the models of training.cc in TensorFlow's Python, runs training.cc with Tenon's library, and compares
the losses step by step: none may differ by more than 1e-4. Needs TensorFlow and a compiler. CI has no TensorFlow."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf

STEPS = 50
LIMIT = 1e-4


def wave(shape, seed, scale):
    count = int(np.prod(shape))
    return tf.constant((np.sin(0.37 * np.arange(count) + seed) * scale).astype(np.float32).reshape(shape))


def classes(count, of):
    return tf.constant([(i * 7 + i // 3) % of for i in range(count)], tf.int32)


def mean_loss(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def train(optimizer, variables, loss_of):
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of()
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return [float(step()) for _ in range(STEPS)]


def variables_of(*parts):
    return [tf.Variable(wave(*part)) for part in parts]


def mlp():
    x, labels = wave([32, 8], 0.1, 1), classes(32, 3)
    v = variables_of(([8, 16], 1, 0.5), ([16], 2, 0.1), ([16, 16], 3, 0.4), ([16], 4, 0.1), ([16, 3], 5, 0.4), ([3], 6, 0.1))

    def loss():
        h = tf.tanh(x @ v[0] + v[1])
        return mean_loss(tf.nn.relu(h @ v[2] + v[3]) @ v[4] + v[5], labels)

    return train(tf.keras.optimizers.Adam(0.01, epsilon=1e-7), v, loss)


def cnn():
    x, labels = wave([16, 12, 12, 1], 0.2, 1), classes(16, 10)
    v = variables_of(([3, 3, 1, 4], 1, 0.4), ([4], 2, 0.1), ([3, 3, 4, 8], 3, 0.3), ([8], 4, 0.1), ([72, 10], 5, 0.2), ([10], 6, 0.1))

    def layer(y, kernel, bias):
        return tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(y, kernel, 1, "SAME"), bias)), 2, 2, "VALID")

    def loss():
        flat = tf.reshape(layer(layer(x, v[0], v[1]), v[2], v[3]), [16, 72])
        return mean_loss(flat @ v[4] + v[5], labels)

    return train(tf.keras.optimizers.SGD(0.02, momentum=0.9), v, loss)


def lstm():
    x, labels = wave([12, 8, 5], 0.3, 1), classes(8, 4)
    v = variables_of(([21, 64], 1, 0.3), ([64], 2, 0.1), ([16, 4], 3, 0.4), ([4], 4, 0.1))

    def loss():
        h = c = tf.zeros([8, 16])
        for i in tf.range(12):
            part = tf.split(tf.concat([x[i], h], 1) @ v[0] + v[1], 4, 1)
            c = tf.sigmoid(part[1] + 1) * c + tf.sigmoid(part[0]) * tf.tanh(part[2])
            h = tf.sigmoid(part[3]) * tf.tanh(c)
        return mean_loss(h @ v[2] + v[3], labels)

    return train(tf.keras.optimizers.Adam(0.01, epsilon=1e-7), v, loss)


def of_tenon(build):
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "training")
        includes = [os.path.join(root, folder, "include") for folder in ("executor", "graph", "plugin")]
        includes.append(os.path.join(build, "generated", "include"))
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", os.path.join(root, "tests", "oracle", "training.cc"), "-o", program,
                        *("-I" + folder for folder in includes), os.path.join(build, "lib", "libtenon.so"),
                        "-Wl,-rpath," + os.path.join(build, "lib")], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    losses = {}
    for line in lines:
        name, _, loss = line.split()
        losses.setdefault(name, []).append(float(loss))
    return losses


def main():
    ours = of_tenon(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release"))
    failed = False
    for name, model in (("mlp", mlp), ("cnn", cnn), ("lstm", lstm)):
        theirs = model()
        assert len(ours[name]) == len(theirs) == STEPS
        most = max(abs(a - b) for a, b in zip(ours[name], theirs))
        failed = failed or not most <= LIMIT
        print(f"{name}: {STEPS} steps, loss {theirs[0]:.6f} to {theirs[-1]:.6f}, differs by at most {most:.2e}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""The rows of cpp_bench.cc as a program of TensorFlow's Python: tf.function, GradientTape, traces.

Prints name, median and least of seven, and the limit that cpp_bench has, in microseconds of processor time.
"""

import statistics
import time

import numpy as np
import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)

CHAIN = 100
NODES = 300


def timed(call, calls):
    begin = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - begin) * 1e6 / calls


class Mlp:
    """Three dense layers of width 32 and the mean of the squared error, for a batch of 32."""

    def __init__(self):
        random = np.random.default_rng(1)
        self.trained = []
        for _ in range(3):
            self.trained.append(tf.Variable(random.uniform(-0.3, 0.3, (32, 32)).astype(np.float32)))
            self.trained.append(tf.Variable(np.zeros(32, np.float32)))

    def loss(self, x, y):
        h = x
        for i in range(3):
            h = tf.matmul(h, self.trained[2 * i]) + self.trained[2 * i + 1]
            if i < 2:
                h = tf.nn.relu(h)
        return tf.reduce_mean(tf.square(h - y))


def sgd(variable, gradient):
    tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=0.001, delta=gradient)


def adam(slots):
    powers = tf.Variable(0.9), tf.Variable(0.999)

    def apply(variable, gradient):
        m, v = slots[id(variable)]
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle, m=m.handle, v=v.handle, beta1_power=powers[0], beta2_power=powers[1],
            lr=0.001, beta1=0.9, beta2=0.999, epsilon=1e-7, grad=gradient)

    return apply


def mlp_step(traced, use_adam=False):
    mlp = Mlp()
    rule = sgd
    if use_adam:
        rule = adam({id(v): (tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v)))
                     for v in mlp.trained})
    x, y = tf.random.uniform((32, 32)), tf.random.uniform((32, 32))

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = mlp.loss(x, y)
        for variable, gradient in zip(mlp.trained, tape.gradient(loss, mlp.trained)):
            rule(variable, gradient)
        return loss

    run = tf.function(step) if traced else step
    return lambda: run(x, y)


def chain(x, factor):
    for _ in range(CHAIN):
        x = x * factor
    return x


def chain_gradient(x, factor):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = chain(x, factor)
    tape.gradient(y, x)


def tape_overhead(x, factor):
    forward = timed(lambda: chain(x, factor), 10)
    return (timed(lambda: chain_gradient(x, factor), 10) - forward) / forward


def trace(x, call):
    @tf.function
    def fresh(s):
        for _ in range(NODES // 3):
            s = tf.tanh(s * s + s)
        return s

    concrete = fresh.get_concrete_function(tf.TensorSpec((16,), tf.float32))
    if call:
        concrete(x)


def main():
    a, b = tf.constant(1.0), tf.constant(2.0)
    x, one = tf.ones(16), tf.constant(np.ones(16, np.float32))
    add = tf.function(lambda s, t: s + t)
    step, adam_step, eager_step = mlp_step(True), mlp_step(True, True), mlp_step(False)
    rows = [
        ("eager AddV2, us", 0.7, lambda: timed(lambda: tf.raw_ops.AddV2(x=a, y=b), 500)),
        ("function of one op, us", 1.5, lambda: timed(lambda: add(a, b), 200)),
        ("MLP step in a function, Sgd, us", 15, lambda: timed(step, 50)),
        ("MLP step in a function, Adam, us", 0, lambda: timed(adam_step, 50)),
        ("MLP step op by op, Sgd, us", 0, lambda: timed(eager_step, 10)),
        ("100 eager Mul, us", 0, lambda: timed(lambda: chain(x, one), 10)),
        ("tape over x*x*..., overhead / forward", 2, lambda: tape_overhead(x, x)),
        ("tape over x*c*..., overhead / forward", 2, lambda: tape_overhead(x, one)),
        ("trace, us a node", 5, lambda: timed(lambda: trace(x, False), 1) / NODES),
        ("trace and first call, us a node", 5, lambda: timed(lambda: trace(x, True), 1) / NODES),
    ]
    for _, _, measure in rows:
        measure()
    measured = [[] for _ in rows]
    for _ in range(7):
        for values, (_, _, measure) in zip(measured, rows):
            values.append(measure())
    print(f"{'':44} {'median':>9} {'minimum':>9} {'limit':>9}")
    for values, (name, limit, _) in zip(measured, rows):
        print(f"{name:44} {statistics.median(values):9.3f} {min(values):9.3f} {limit:9.2f}")


if __name__ == "__main__":
    main()

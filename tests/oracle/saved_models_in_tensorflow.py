#!/usr/bin/env python3
"""Makes SavedModels of many kinds in TensorFlow and compares graph_run's answers with TensorFlow's.

    tests/oracle/saved_models_in_tensorflow.py [--graph-run PROGRAM] [--only NAME]... FOLDER

Needs TensorFlow with Keras 3. FOLDER gets a folder per model. Each model runs as it was saved, as `freeze` and as
`opt -o OUT.pb` write it, and as the SavedModel that `opt` writes, which TensorFlow loads and runs
too. Exit code 1 if one of them differs or fails.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

ROOT = pathlib.Path(__file__).resolve().parents[2]
Spec = tf.TensorSpec
TOLERANCE = {"rtol": 2e-4, "atol": 2e-5}
TEXTS = np.array([text.encode() for text in ("The cat sat, twice.", "", "über naïve Straße", "a dog")])
MODELS = {}


def model(make):
    """Registers a function that returns a Keras model or tf.Module, and its inputs by name."""
    MODELS[make.__name__] = make
    return make


def numbers(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


def module(call, *signature, **tracked):
    """A module whose serving signature is `call`; it saves what is `tracked`."""
    made = tf.Module()
    made.tracked = tracked
    made.serve = tf.function(call, input_signature=signature)
    return made


def vocabulary(**options):
    layer = layers.TextVectorization(**options)
    layer.adapt(np.array(["the cat sat on the mat", "a dog ran", "naive cat"]))
    return layer


@model
def image_classifier():
    made = keras.applications.MobileNetV3Small(
        weights=None, input_tensor=keras.Input((96, 96, 3), name="image"), classes=9)
    return made, {"image": numbers(1, 96, 96, 3)}


@model
def text_classifier():
    words = vocabulary(output_sequence_length=8)
    made = keras.Sequential([
        keras.Input((), dtype="string", name="text"), words,
        layers.Embedding(words.vocabulary_size(), 8, mask_zero=True),
        layers.Bidirectional(layers.LSTM(6)), layers.Dense(3)])
    return made, {"text": TEXTS}


@model
def tf_idf_of_bigrams():
    words = vocabulary(output_mode="tf_idf", ngrams=2)
    made = keras.Sequential([keras.Input((), dtype="string", name="text"), words, layers.Dense(2)])
    return made, {"text": TEXTS}


@model
def tabular():
    city = keras.Input((1,), dtype="string", name="city")
    age = keras.Input((1,), dtype="int64", name="age")
    parts = [
        layers.StringLookup(vocabulary=["oslo", "rome"], num_oov_indices=2, output_mode="one_hot")(city),
        layers.Hashing(num_bins=7, output_mode="one_hot")(city),
        layers.HashedCrossing(num_bins=9, output_mode="one_hot")((city, age)),
        layers.Discretization(bin_boundaries=[18.0, 40.0], output_mode="one_hot")(age),
        layers.IntegerLookup(vocabulary=[20, 33], output_mode="one_hot")(age)]
    made = keras.Model([city, age], layers.Dense(1)(layers.Concatenate()(parts)))
    return made, {"city": np.array([[b"rome"], [b"paris"]]), "age": np.array([[20], [71]])}


@model
def images_in_files():
    network = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(2)])

    def decode(content):
        image = tf.io.decode_image(content, channels=3, expand_animations=False)
        return tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), (32, 32), antialias=True)

    def serve(files):
        return {"scores": network(tf.map_fn(decode, files, fn_output_signature=tf.float32))}

    pixels = tf.constant(np.random.default_rng(1).integers(0, 256, (40, 30, 3), np.uint8))
    files = np.array([tf.io.encode_jpeg(pixels).numpy(), tf.io.encode_png(pixels).numpy()], object)
    return module(serve, Spec([None], tf.string), network=network), {"files": files}


@model
def detector():
    network = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(7, 3, 2), layers.Reshape((-1, 7))])

    def serve(images):
        found = network(images)
        corner, size = tf.sigmoid(found[..., :2]), tf.sigmoid(found[..., 2:4])
        boxes = tf.concat([corner, corner + size], -1)[:, :, None]
        kept = tf.image.combined_non_max_suppression(boxes, tf.sigmoid(found[..., 4:]), 9, 20, 0.5, 0.3)
        one = tf.image.non_max_suppression(boxes[0, :, 0], found[0, :, 4], 5, 0.4)
        crops = tf.image.crop_and_resize(images, kept.nmsed_boxes[0], tf.zeros([20], tf.int32), (5, 5))
        return {"boxes": kept.nmsed_boxes, "classes": kept.nmsed_classes, "count": kept.valid_detections,
                "kept": one, "crops": crops}

    return module(serve, Spec([1, 32, 32, 3], tf.float32), network=network), {"images": numbers(1, 32, 32, 3)}


@model
def sound():
    mel = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000)

    def serve(wave):
        spectrum = tf.signal.stft(wave, 256, 64, pad_end=True)
        logarithm = tf.math.log(tf.tensordot(tf.abs(spectrum), mel, 1) + 1e-6)
        window = tf.signal.inverse_stft_window_fn(64)
        return {"mfcc": tf.signal.mfccs_from_log_mel_spectrograms(logarithm),
                "back": tf.signal.inverse_stft(spectrum, 256, 64, window_fn=window)}

    return module(serve, Spec([None, None], tf.float32)), {"wave": numbers(2, 2000)}


@model
def series():
    made = keras.Sequential([
        keras.Input((None, 4), name="values"), layers.Masking(), layers.LSTM(8, return_sequences=True),
        layers.GRU(6, return_sequences=True), layers.Conv1D(5, 3, padding="causal", dilation_rate=2),
        layers.Bidirectional(layers.SimpleRNN(4)), layers.Dense(2)])
    return made, {"values": numbers(2, 9, 4)}


@model
def transformer():
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = layers.Embedding(50, 16, mask_zero=True)(tokens)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, activation="gelu")(x)))
    return keras.Model(tokens, layers.Dense(50)(x)), {"tokens": np.array([[3, 9, 4, 0], [7, 0, 0, 0]], np.int32)}


@model
def decoder():
    embedding, cell, scores = layers.Embedding(20, 8), layers.GRUCell(8), layers.Dense(20)

    def serve(first, most):
        state, token, step = tf.zeros([tf.shape(first)[0], 8]), first, 0
        written = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        while step < most and not tf.reduce_all(token == 0):
            state = cell(embedding(token), [state])[0]
            token = tf.argmax(scores(state), -1, tf.int32)
            written, step = written.write(step, token), step + 1
        return {"tokens": written.stack(), "state": state}

    made = module(serve, Spec([None], tf.int32), Spec([], tf.int32), all=[embedding, cell, scores])
    return made, {"first": np.array([3, 5], np.int32), "most": np.array(6, np.int32)}


@model
def ragged_text():
    table = tf.Variable(numbers(512, 4))

    def serve(text):
        points = tf.minimum(tf.strings.unicode_decode(text, "UTF-8"), 511)
        words = tf.strings.split(text)
        rows = tf.ragged.map_flat_values(tf.nn.embedding_lookup, table, points)
        return {"sums": tf.reduce_sum(rows, 1), "words": words.to_tensor("-"),
                "pairs": tf.strings.ngrams(words, 2).to_tensor(""), "upper": tf.strings.upper(text, "utf-8")}

    return module(serve, Spec([None], tf.string), table=table), {"text": TEXTS}


@model
def examples():
    features = {"x": tf.io.FixedLenFeature([2], tf.float32), "ids": tf.io.VarLenFeature(tf.int64),
                "more": tf.io.RaggedFeature(tf.float32)}
    table = tf.Variable(numbers(9, 3))

    def serve(serialized):
        parsed = tf.io.parse_example(serialized, features)
        rows = tf.nn.safe_embedding_lookup_sparse(table, parsed["ids"], combiner="mean")
        return {"x": parsed["x"], "rows": rows, "more": tf.reduce_sum(parsed["more"], 1)}

    def example(ids):
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2])),
                   "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=ids)),
                   "more": tf.train.Feature(float_list=tf.train.FloatList(value=ids))}
        # The last byte is no zero, which a NumPy string of a fixed width would lose.
        message = tf.train.Example(features=tf.train.Features(feature=feature))
        return message.SerializeToString(deterministic=True)

    inputs = np.array([example([1, 5]), example([])], object)
    return module(serve, Spec([None], tf.string), table=table), {"serialized": inputs}


@model
def quantized():
    weights = tf.Variable(np.random.default_rng(2).integers(-127, 128, (16, 8)).astype(np.int8))

    def serve(x):
        fake = tf.quantization.fake_quant_with_min_max_vars(x, -3.0, 3.0)
        small = tf.cast(tf.clip_by_value(tf.round(x * 40), -127, 127), tf.int8)
        q, low, high = tf.quantization.quantize(x, -4.0, 4.0, tf.quint8)
        return {"fake": fake, "product": tf.matmul(small, weights, output_type=tf.int32),
                "back": tf.quantization.dequantize(q, low, high)}

    return module(serve, Spec([None, 16], tf.float32), weights=weights), {"x": numbers(3, 16)}


def save(made, folder):
    if isinstance(made, keras.Model):
        made.export(str(folder), verbose=False)
    else:
        tf.saved_model.save(made, str(folder), {"serving_default": made.serve})


def answers(folder, inputs):
    """What TensorFlow answers for the serving signature of a SavedModel."""
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    specs = signature.structured_input_signature[1]
    fed = {name: tf.constant(value.tolist() if value.dtype.kind in "SO" else value, specs[name].dtype)
           for name, value in inputs.items()}
    return {name: value.numpy() for name, value in signature(**fed).items()}


def as_bytes(arrays):
    """NumPy files hold strings as bytes of a fixed width."""
    return {name: np.array(value.ravel().tolist(), "S").reshape(value.shape) if value.dtype == object else value
            for name, value in arrays.items()}


class Checker:
    def __init__(self, program, folder, inputs, expected):
        self.program, self.folder, self.wrong = program, folder, []
        self.inputs, self.expected = as_bytes(inputs), as_bytes(expected)
        np.savez(folder / "inputs.npz", **self.inputs)
        np.savez(folder / "expected.npz", **self.expected)

    def ask(self, *args):
        """The document of a command, or None after an error."""
        done = subprocess.run([self.program, *map(str, args), "--json"], capture_output=True, check=False)
        if done.returncode != 0:
            self.wrong.append(f"{args[0]} {args[1]}: {done.stderr.decode(errors='replace').strip()}")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def run(self, path, inputs, outputs, *more):
        """Runs a model whose inputs and outputs have these names, by TensorFlow's names."""
        args = ["--rtol", TOLERANCE["rtol"], "--atol", TOLERANCE["atol"], *more]
        for name in self.inputs:
            args += ["--input", f"{inputs.get(name, name)}=@{self.folder}/inputs.npz[{name}]"]
        for name in self.expected:
            args += ["--output", outputs.get(name, name),
                     "--expect", f"{outputs.get(name, name)}=@{self.folder}/expected.npz[{name}]"]
        self.ask("run", path, *args)

    def check(self):
        saved, again = self.folder / "saved", self.folder / "optimized"
        self.run(saved, {}, {})
        for command in ("freeze", "opt"):
            path = self.folder / f"{command}.pb"
            if document := self.ask(command, saved, "-o", path):
                inputs, outputs = ({t["name"]: t["node"] for t in document[role]} for role in ("inputs", "outputs"))
                self.run(path, inputs, outputs, *(["--init", document["init"]] if document["init"] else []))
        if self.ask("opt", saved, "-o", again):
            self.run(again, {}, {})
            loaded = as_bytes(answers(again, self.inputs))
            for name, right in self.expected.items():
                same = (np.array_equal(loaded[name], right) if right.dtype.kind == "S" else
                        np.allclose(loaded[name], right, **TOLERANCE))
                if not same:
                    self.wrong.append(f"TensorFlow answers {name} otherwise for {again}")
        return self.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--graph-run", default=ROOT / "build/release/bin/graph_run")
    parser.add_argument("--only", action="append", choices=MODELS, default=[])
    args = parser.parse_args()
    failed = False
    for name in args.only or MODELS:
        folder = args.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        keras.utils.set_random_seed(3)
        made, inputs = MODELS[name]()
        save(made, folder / "saved")
        wrong = Checker(args.graph_run, folder, inputs, answers(folder / "saved", inputs)).check()
        print(f"{name}: {'; '.join(wrong) or 'right'}", flush=True)
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes a tiny streaming transducer in the form that sherpa-onnx loads, for the tests of SherpaOnnxRecognition.

It is written down, not trained: a tone is a word. The encoder pools the 80 log-mel features over 40 ms, compares the bins
around five pitches with the mean of all bins, and reports in which frame a tone began, one frame later once more for the
second piece of a word. What was heard last is its state, so words survive the borders of chunks. The decoder sees the last
token and allows a second piece only behind its first.

    500 Hz one    800 Hz two    1250 Hz three (two pieces)    2000 Hz four (nearly as likely: for)    3000 Hz five

The encoder has the form of an LSTM, whose state is simple. `encoders` holds the same in the forms of the other kinds of encoders,
with their metadata and their state, most of which is only passed on.

    make.py [FOLDER]            writes encoder.onnx, decoder.onnx, joiner.onnx, tokens.txt, bpe.vocab and encoders; by
                                default beside this file, in `model`
    make.py --try [FOLDER]      recognises tones with the Python package sherpa-onnx and fails if a word is wrong
"""

import math
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

TONES = {"ONE": 500, "TWO": 800, "THREE": 1250, "FOUR": 2000, "FIVE": 3000}
TOKENS = ["<blk>", "<sos/eos>", "<unk>", "▁ONE", "▁TWO", "▁TH", "REE", "▁FOUR", "▁FOR", "▁FIVE"]
# Which tokens a tone gives in its first frame, and which one in its second.
FIRST = {"ONE": {"▁ONE": 5}, "TWO": {"▁TWO": 5}, "THREE": {"▁TH": 5}, "FOUR": {"▁FOUR": 5, "▁FOR": 4.2}, "FIVE": {"▁FIVE": 5}}
SECOND = {"THREE": {"REE": 8}}
BINS = 80
CHUNK = 16
SUBSAMPLING = 4
FRAMES = CHUNK // SUBSAMPLING
HISTORY = 2
CONTEXT = 2
THRESHOLD = 4.0


def mel(frequency):
    return 1127 * math.log(1 + frequency / 700)


def nearest_bin(frequency, low=20, high=7600):
    step = (mel(high) - mel(low)) / (BINS + 1)
    return round((mel(frequency) - mel(low)) / step) - 1


def constant(name, values, kind=np.float32):
    return numpy_helper.from_array(np.asarray(values, dtype=kind), name)


def save(path, nodes, inputs, outputs, constants, metadata):
    def tensors(named):
        return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in named]

    graph = helper.make_graph(nodes, path.stem, tensors(inputs), tensors(outputs), constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="swift-voice")
    model.ir_version = 8
    helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


SIZE = len(TONES)
FLOAT, INTEGER = TensorProto.FLOAT, TensorProto.INT64
# Of each kind of encoder: its metadata, its state, and which axes of the first of its states with two frames of every tone are to
# be removed, and in which order the rest is batch, frame, tone.
FORMS = {
    "lstm": (
        {"num_encoder_layers": HISTORY, "rnn_hidden_size": 1, "d_model": SIZE},
        [("h", FLOAT, [HISTORY, "N", SIZE]), ("c", FLOAT, [HISTORY, "N", 1])], "h", [], [1, 0, 2]),
    "conformer": (
        {"num_encoder_layers": 1, "left_context": HISTORY, "encoder_dim": SIZE, "pad_length": 0, "cnn_module_kernel": 3},
        [("attention", FLOAT, [1, HISTORY, "N", SIZE]), ("convolution", FLOAT, [1, 2, "N", SIZE])],
        "attention", [0], [1, 0, 2]),
    "ebranchformer": (
        {"num_hidden_layers": 1, "hidden_size": 2, "intermediate_size": 4, "csgu_kernel_size": 3, "merge_conv_kernel": 3,
         "left_context_len": HISTORY, "num_heads": 1, "head_dim": SIZE},
        [("key", FLOAT, ["N", 1, HISTORY, SIZE]), ("value", FLOAT, ["N", 1, HISTORY, SIZE]), ("gate", FLOAT, ["N", 2, 2]),
         ("fusion", FLOAT, ["N", 4, 2]), ("processed", INTEGER, ["N"])], "key", [1], [0, 1, 2]),
    "zipformer": (
        {"encoder_dims": 4, "attention_dims": SIZE, "num_encoder_layers": 1, "cnn_module_kernels": 3,
         "left_context_len": HISTORY},
        [("length", INTEGER, [1, "N"]), ("average", FLOAT, [1, "N", 4]), ("key", FLOAT, [1, HISTORY, "N", SIZE]),
         ("value", FLOAT, [1, HISTORY, "N", SIZE // 2]), ("value2", FLOAT, [1, HISTORY, "N", SIZE // 2]),
         ("conv", FLOAT, [1, "N", 4, 2]), ("conv2", FLOAT, [1, "N", 4, 2])], "key", [0], [1, 0, 2]),
    "zipformer2": (
        {"encoder_dims": 4, "query_head_dims": SIZE, "value_head_dims": 2, "num_heads": 1, "num_encoder_layers": 1,
         "cnn_module_kernels": 3, "left_context_len": HISTORY},
        [("key", FLOAT, [HISTORY, "N", SIZE]), ("nonlinear", FLOAT, [1, "N", HISTORY, 3]),
         ("value", FLOAT, [HISTORY, "N", 2]), ("value2", FLOAT, [HISTORY, "N", 2]), ("conv", FLOAT, ["N", 4, 1]),
         ("conv2", FLOAT, ["N", 4, 1]), ("embed", FLOAT, ["N", 128, 3, 19]), ("processed", INTEGER, ["N"])],
        "key", [], [1, 0, 2]),
}


def make_encoder(path, form):
    metadata, states, history, removed, order = FORMS[form]
    tones, vocabulary = list(TONES), len(TOKENS)
    around = np.full((BINS, len(tones)), -1 / BINS, dtype=np.float32)
    first = np.zeros((len(tones), vocabulary), dtype=np.float32)
    second = np.zeros((len(tones), vocabulary), dtype=np.float32)
    for index, tone in enumerate(tones):
        center = nearest_bin(TONES[tone])
        around[center - 1:center + 2, index] += 1 / 3
        for token, weight in FIRST[tone].items():
            first[index, TOKENS.index(token)] = 5 + weight
        for token, weight in SECOND.get(tone, {}).items():
            second[index, TOKENS.index(token)] = 5 + weight
    silence = np.zeros(vocabulary, dtype=np.float32)
    silence[0] = 5
    node = helper.make_node

    def cut(source, start, end, name):
        return node("Slice", [source, f"at{start}", f"at{end}", "axis1"], [name])

    nodes = [
        node("Reshape", ["x", "grouped"], ["groups"]),
        node("ReduceMean", ["groups"], ["pooled"], axes=[2], keepdims=0),
        node("MatMul", ["pooled", "around"], ["scores"]),
        node("Greater", ["scores", "threshold"], ["is_heard"]),
        node("Cast", ["is_heard"], ["heard"], to=TensorProto.FLOAT),
        node("Squeeze", [history, "removed"], ["stored"]) if removed else node("Identity", [history], ["stored"]),
        node("Transpose", ["stored"], ["before"], perm=order),
        node("Concat", ["before", "heard"], ["all"], axis=1),
        cut("all", 2, 6, "now"), cut("all", 1, 5, "one_ago"), cut("all", 0, 4, "two_ago"),
        node("Sub", ["now", "one_ago"], ["change"]), node("Relu", ["change"], ["begun"]),
        node("Sub", ["one_ago", "two_ago"], ["change_before"]), node("Relu", ["change_before"], ["begun_before"]),
        node("MatMul", ["begun", "first"], ["first_pieces"]),
        node("MatMul", ["begun_before", "second"], ["second_pieces"]),
        node("Add", ["first_pieces", "second_pieces"], ["pieces"]),
        node("Add", ["pieces", "silence"], ["encoder_out"]),
        cut("all", 4, 6, "last"),
        node("Transpose", ["last"], ["kept"], perm=order),
        node("Unsqueeze", ["kept", "removed"], [f"next_{history}"]) if removed
        else node("Identity", ["kept"], [f"next_{history}"]),
    ] + [node("Identity", [name], [f"next_{name}"]) for name, _, _ in states if name != history]
    constants = [
        constant("grouped", [0, FRAMES, SUBSAMPLING, BINS], np.int64), constant("around", around),
        constant("threshold", THRESHOLD), constant("first", first), constant("second", second),
        constant("silence", silence), constant("axis1", [1], np.int64),
    ] + ([constant("removed", removed, np.int64)] if removed else []) + [constant(f"at{place}", [place], np.int64) for place in range(7)]
    inputs = [("x", FLOAT, ["N", CHUNK, BINS])] + states
    if form == "conformer":
        inputs.append(("processed", INTEGER, ["N"]))
    save(
        path, nodes, inputs,
        [("encoder_out", FLOAT, ["N", FRAMES, vocabulary])] + [(f"next_{name}", kind, shape) for name, kind, shape in states],
        constants,
        {"model_type": form, "version": 1, "model_author": "swift-voice", "T": CHUNK, "decode_chunk_len": CHUNK} | metadata)


def make_decoder(path):
    vocabulary = len(TOKENS)
    after = np.zeros((vocabulary, vocabulary), dtype=np.float32)
    after[:, TOKENS.index("REE")] = -5
    after[TOKENS.index("▁TH"), TOKENS.index("REE")] = 0
    node = helper.make_node
    nodes = [
        node("Slice", ["y", "from", "to", "axis1"], ["newest"]),
        # The context before the first token is -1.
        node("Max", ["newest", "blank"], ["known"]),
        node("Gather", ["after", "known"], ["rows"], axis=0),
        node("Squeeze", ["rows", "axis1"], ["decoder_out"]),
    ]
    constants = [
        constant("from", [CONTEXT - 1], np.int64), constant("to", [CONTEXT], np.int64),
        constant("axis1", [1], np.int64), constant("blank", 0, np.int64), constant("after", after),
    ]
    save(
        path, nodes, [("y", TensorProto.INT64, ["N", CONTEXT])],
        [("decoder_out", TensorProto.FLOAT, ["N", vocabulary])], constants,
        {"context_size": CONTEXT, "vocab_size": vocabulary})


def make_joiner(path):
    vocabulary = len(TOKENS)
    save(
        path, [helper.make_node("Add", ["encoder_out", "decoder_out"], ["logit"])],
        [("encoder_out", TensorProto.FLOAT, ["N", vocabulary]), ("decoder_out", TensorProto.FLOAT, ["N", vocabulary])],
        [("logit", TensorProto.FLOAT, ["N", vocabulary])], [], {"joiner_dim": vocabulary})


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    make_encoder(folder / "encoder.onnx", "lstm")
    (folder / "encoders").mkdir(exist_ok=True)
    for form in FORMS:
        if form != "lstm":
            make_encoder(folder / "encoders" / f"{form}.onnx", form)
    make_decoder(folder / "decoder.onnx")
    make_joiner(folder / "joiner.onnx")
    lines = [f"{token} {number}\n" for number, token in enumerate(TOKENS)]
    (folder / "tokens.txt").write_text("".join(lines), encoding="utf-8")
    lines = [f"{token}\t{-number}\n" for number, token in enumerate(TOKENS)]
    (folder / "bpe.vocab").write_text("".join(lines), encoding="utf-8")


def tone(frequency, seconds=0.24, rate=16000):
    return (0.3 * np.sin(2 * np.pi * frequency * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


def check(folder, encoder):
    import sherpa_onnx

    recognizer = sherpa_onnx.OnlineRecognizer.from_transducer(
        tokens=str(folder / "tokens.txt"), encoder=str(encoder), decoder=str(folder / "decoder.onnx"),
        joiner=str(folder / "joiner.onnx"), num_threads=1, decoding_method="greedy_search")
    spoken = ["ONE", "THREE", "TWO", "FOUR", "FIVE", "THREE", "ONE"]
    quiet = np.zeros(2400, dtype=np.float32)
    samples = np.concatenate([quiet] + [part for word in spoken for part in (tone(TONES[word]), quiet)])
    stream = recognizer.create_stream()
    for start in range(0, len(samples), 1600):
        stream.accept_waveform(16000, samples[start:start + 1600])
        while recognizer.is_ready(stream):
            recognizer.decode_stream(stream)
    stream.accept_waveform(16000, np.zeros(16000, dtype=np.float32))
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    result = recognizer.get_result_all(stream)
    print(result.tokens, [round(time, 2) for time in result.timestamps], [round(p, 2) for p in result.ys_probs])
    if result.text.split() != spoken:
        sys.exit(f"recognised “{result.text.strip()}” instead of “{' '.join(spoken)}”")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--try"]
    target = Path(arguments[0]) if arguments else Path(__file__).parent / "model"
    if "--try" in sys.argv[1:]:
        for encoder in [target / "encoder.onnx", *sorted((target / "encoders").iterdir())]:
            check(target, encoder)
    else:
        make(target)

#!/usr/bin/env python3
"""Makes the recordings of the evaluation: the sentences of each domain, spoken by voices of flite and festival.

What is there already is kept: a recording's name comes from its text and its voice.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ENTITY = re.compile(r"\[((?:[^\]|\\]|\\.)*)(?:\|(?:[^\]\\]|\\.)*)?\]\([^)]*\)")
SPEAKABLE = re.compile(r"[A-Za-z0-9' .,]+")


def plain(annotated):
    """What is said, without intents and entities."""
    return " ".join(ENTITY.sub(r"\1", re.sub(r"(^|\s)\*\S+", " ", annotated)).split())


def lines(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            yield line


def voices(use):
    for line in lines(HERE / "voices.tsv"):
        name, its_use, engine, voice, stretch, pitch = line.split("\t")
        if its_use == use:
            yield {"name": name, "engine": engine, "voice": voice, "stretch": float(stretch), "pitch": int(pitch)}


def sampled(program, domain, count, seed):
    """Random sentences of the domain's grammar, each once."""
    result = subprocess.run(
        [program, "sal", "expand", "--config", str(HERE / domain / "app.yaml"), "--count", str(count),
         "--seed", str(seed)],
        check=True, capture_output=True, text=True)
    return list(dict.fromkeys(result.stdout.splitlines()))


def recording(voice, text):
    key = json.dumps([voice, text], sort_keys=True)
    return f"{voice['name']}/{hashlib.sha256(key.encode()).hexdigest()[:16]}.wav"


def speak_with_flite(voice, text, path):
    options = ["--setf", f"duration_stretch={voice['stretch']}"]
    if voice["pitch"]:
        options += ["--setf", f"int_f0_target_mean={voice['pitch']}"]
    part = path.with_suffix(".part")
    subprocess.run(["flite", "-voice", voice["voice"], *options, "-t", text, "-o", str(part)], check=True,
                   capture_output=True)
    os.replace(part, path)


def speak_with_festival(voice, work):
    """One process for all texts: loading a voice takes longer than speaking."""
    script = [f"(voice_{voice['voice']})", f"(Parameter.set 'Duration_Stretch {voice['stretch']})"]
    if voice["pitch"]:
        script.append(
            f"(set! int_lr_params '((target_f0_mean {voice['pitch']}) (target_f0_std 14)"
            " (model_f0_mean 170) (model_f0_std 34)))")
    for text, path in work:
        script += [
            f'(set! spoken (utt.synth (Utterance Text "{text}")))',
            "(utt.wave.resample spoken 16000)",
            f'(utt.save.wave spoken "{path.with_suffix(".part")}" \'riff)',
        ]
    script_path = work[0][1].parent / "speak.scm"
    script_path.write_text("\n".join(script) + "\n", encoding="utf-8")
    subprocess.run(["festival", "--batch", str(script_path)], check=True, capture_output=True)
    script_path.unlink()
    for _, path in work:
        os.replace(path.with_suffix(".part"), path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--voice", required=True, help="the program voice")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--use", choices=["tuning", "evaluation"], default="evaluation")
    parser.add_argument("--samples", type=int, default=20, help="random sentences of each domain")
    arguments = parser.parse_args()

    jobs = []
    count = 0
    for folder in sorted(path.parent for path in HERE.glob("*/app.yaml")):
        domain = folder.name
        out = (arguments.out / domain).resolve()
        # The random sentences of tuning are others than those of the evaluation.
        sentences = [(text, True) for text in lines(folder / "sentences.txt")]
        sentences += [
            (text, True)
            for text in sampled(arguments.voice, domain, arguments.samples, 1 if arguments.use == "evaluation" else 2)]
        sentences += [(text, False) for text in lines(folder / "outside.txt")]
        labels = []
        for voice in voices(arguments.use):
            (out / voice["name"]).mkdir(parents=True, exist_ok=True)
            missing = []
            for text, is_covered in sentences:
                spoken = plain(text) if is_covered else text
                if not SPEAKABLE.fullmatch(spoken):
                    sys.exit(f"{domain}: “{spoken}” has characters that are not spoken")
                name = recording(voice, spoken)
                label = {"file": name, "text": text, "voice": voice["name"]}
                if not is_covered:
                    label["in_grammar"] = False
                labels.append(label)
                if not (out / name).exists() and (spoken, out / name) not in missing:
                    missing.append((spoken, out / name))
            count += len(missing)
            if missing and voice["engine"] == "festival":
                jobs.append((speak_with_festival, (voice, missing)))
            else:
                jobs += [(speak_with_flite, (voice, text, path)) for text, path in missing]
        shutil.copy(folder / "app.yaml", out / "app.yaml")
        with open(out / "labels.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(label, ensure_ascii=False) + "\n" for label in labels)
    if count:
        print(f"Speaking {count} sentences", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as executor:
        for result in [executor.submit(work, *inputs) for work, inputs in jobs]:
            result.result()


if __name__ == "__main__":
    main()

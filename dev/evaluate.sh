#!/usr/bin/env bash
# Measures how well spoken commands are understood: three domains, spoken by synthetic voices that are not used for tuning,
# in several conditions, beside the bare engine on the same audio. What is spoken is kept in .evaluation.
#
#   VOICE_EVALUATE_USE=tuning        the voices that recognition may be tuned with, instead
#   VOICE_EVALUATE_SAMPLES=20        how many random sentences each domain has beside those of its list
#   VOICE_EVALUATE_PEER=no           without the bare engine, which takes longer than all else
#   VOICE_EVALUATE_COMMANDS=DIR      recordings of people with labels.jsonl and app.yaml, too
#   VOICE_EVALUATE_NOISE=FILE        the noise for these; without it they are heard without noise only
#   VOICE_PROGRAM=FILE               a program voice that is built already
#
# Arguments are passed on to `voice evaluate`: --limit N hears fewer recordings of each domain.
set -euo pipefail
cd "$(dirname "$0")/.."

dev/setup-evaluation.sh
voice=${VOICE_PROGRAM:-}
if [[ -z $voice ]]; then
  echo "Building; the first build takes some minutes." >&2
  swift build --configuration release --product voice --quiet >&2
  voice=$(swift build --configuration release --show-bin-path)/voice
fi

use=${VOICE_EVALUATE_USE:-evaluation}
work=.evaluation
mkdir -p "$work"
python3 Evaluation/speak.py --voice "$voice" --out "$work/$use" --use "$use" --samples "${VOICE_EVALUATE_SAMPLES:-20}"

# A goal that is missed ends nothing here; a recording that cannot be read does.
conditions=clean,pink20,pink10,telephone
results=("$work/$use.jsonl")
echo "Spoken by voices for $use"
if [[ ${VOICE_EVALUATE_PEER:-yes} == no ]]; then
  "$voice" evaluate "$work/$use" --conditions "$conditions" --results "${results[0]}" "$@"
else
  cc -O2 -Wall $(pkg-config --cflags pocketsphinx) Evaluation/bare_engine.c -o "$work/bare_engine" \
    $(pkg-config --libs pocketsphinx)
  audio=$(mktemp --directory "$work/audio.XXXXXX")
  trap 'rm -rf "$audio"' EXIT
  "$voice" evaluate "$work/$use" --conditions "$conditions" --keep-audio "$audio" --results "${results[0]}" "$@"
  echo "The bare engine hears the same; this takes some minutes." >&2
  python3 Evaluation/bare.py --voice "$voice" --engine "$work/bare_engine" --set "$work/$use" --audio "$audio" \
    > "$work/$use-bare-heard.jsonl"
  results+=("$work/$use-bare.jsonl")
  "$voice" evaluate "$work/$use" --conditions "$conditions" --heard "$work/$use-bare-heard.jsonl" \
    --results "${results[1]}" "$@" > /dev/null
fi
echo
python3 Evaluation/goals.py "${results[@]}"

if [[ -n ${VOICE_EVALUATE_COMMANDS:-} ]]; then
  echo
  echo "Spoken by people"
  people=(--conditions clean)
  if [[ -n ${VOICE_EVALUATE_NOISE:-} ]]; then
    people=(--conditions clean,snr24,snr15,snr6 --noise "$VOICE_EVALUATE_NOISE")
  else
    echo "Without VOICE_EVALUATE_NOISE there is no noise to add." >&2
  fi
  "$voice" evaluate "$VOICE_EVALUATE_COMMANDS" "${people[@]}" --results "$work/people.jsonl" "$@"
  echo
  python3 Evaluation/goals.py --people "$work/people.jsonl"
fi

#!/bin/sh
# Asks Quartz again and rewrites tests/unit/schedules/data/quartz.tsv.gz.
# Needs Debian's libquartz2-java and libslf4j-java, and a JDK.
set -eu
here=$(dirname "$0")
out="$here/../../tests/unit/schedules/data/quartz.tsv.gz"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jars=/usr/share/java/quartz2.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar
javac -cp "$jars" -d "$work" "$here/QuartzAnswers.java"
python3 "$here/cases.py" | timeout 300 java -cp "$jars:$work" QuartzAnswers | gzip -9n > "$out"

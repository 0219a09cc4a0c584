# For the commands of the pages in this folder.

# spoil FILE BYTE: flips a bit of a byte, which is counted from the end if it is negative.
spoil() {
    local at=$2 byte
    ((at >= 0)) || at=$(($(stat -c %s "$1") + at))
    byte=$(od -An -tu1 -j "$at" -N 1 "$1")
    printf "\\x$(printf %x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}

#!/usr/bin/env bash
# Run Python with a sanitized core in place of the installed one: with_sanitized_core.sh PYTHON BUILD_FOLDER ARGUMENTS...
# tests/conftest.py puts it there.
set -euo pipefail
python=$1 build=$2
library() { ${CXX:-c++} -print-file-name="$1.so"; }
core=$(ls "$build"/_core.*.so)
if ldd "$core" | grep libtsan > /dev/null; then
  runtimes=$(library libtsan)
else
  runtimes=$(library libasan):$(library libubsan)
fi
# Python itself never frees everything at exit, so leaks are not looked for. Room for gigabytes is refused: a sanitizer
# takes seconds to mark it.
memory=allocator_may_return_null=1:max_allocation_size_mb=2048
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:$memory
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# A fork of a process whose other threads belong to libraries, as NumPy's do, is watched on.
export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0:report_signal_unsafe=0:$memory
export LD_PRELOAD="$runtimes:$(library libstdc++)"
export SHADOW_TEST_CORE="$core"
# ThreadSanitizer needs its places in memory free: no random ones.
exec setarch "$(uname -m)" -R "$python" "${@:3}"

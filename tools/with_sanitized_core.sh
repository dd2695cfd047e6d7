#!/usr/bin/env bash
# Run Python with a sanitized core in place of the installed one: with_sanitized_core.sh PYTHON BUILD_FOLDER ARGUMENTS...
# tests/conftest.py puts it there.
set -euo pipefail
python=$1 build=$2
runtime=$(${CXX:-c++} -print-file-name=libasan.so)
undefined=$(${CXX:-c++} -print-file-name=libubsan.so)
stdcpp=$(${CXX:-c++} -print-file-name=libstdc++.so)
core=$(ls "$build"/_core.*.so)
# Python itself never frees everything at exit, so leaks are not looked for. Room for gigabytes is refused: a sanitizer
# takes seconds to mark it.
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=2048
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LD_PRELOAD="$runtime:$undefined:$stdcpp"
export SHADOW_TEST_CORE="$core"
exec "$python" "${@:3}"

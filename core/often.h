// Words to the compiler about functions that are called for every entry of a list, and those that hardly ever are.
// Not for: anything a result could depend on.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define SHADOW_OFTEN __attribute__((always_inline)) inline
#define SHADOW_RARE __attribute__((noinline, cold))
#else
#define SHADOW_OFTEN inline
#define SHADOW_RARE
#endif

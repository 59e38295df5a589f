#pragma once

// Marks what the public C++ API exports from libtenon.so; everything else is hidden.
#define TENON_EXPORT __attribute__((visibility("default")))

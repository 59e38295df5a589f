// What many tests include, compiled once for all test programs (TenonTargets.cmake). A test
// includes what it uses nevertheless: clang-tidy does without.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/pch.h"

// Special functions of real numbers. Errors are up to about ten units in the last place of double.
// HurwitzZeta may lose more: for a negative q and an odd x by cancellation, and for a large x about
// x / 2 units, since the rounding of q counts x times. A function returns NaN
// where TensorFlow's does, even if a limit exists. Thread-safe.
#pragma once

namespace tenon::cpu {

// Dawson's integral: e^(-x^2) times the integral of e^(t^2) from 0 to x.
double Dawson(double x);

// The principal value of the integral of e^t / t from -infinity to x. -infinity for 0; NaN for x <
// 0 and +infinity.
double ExpIntegral(double x);

// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x.
double FresnelCos(double x);
double FresnelSin(double x);

// The dilogarithm of 1 - x. NaN for x < 0 and +infinity.
double Spence(double x);

// The sum of (q + k)^-x over the integers k >= 0. +infinity for x = 1, NaN for x < 1. For q = 0 and
// negative integers q: +infinity if x is an even integer, else NaN. For any other q < 0: NaN unless
// x is an integer. An infinite x counts as an even integer, and an infinite q < 0 as an integer.
double HurwitzZeta(double x, double q);

}  // namespace tenon::cpu

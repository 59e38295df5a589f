// Special functions of real numbers, within a few units of the last place of double. NaN where
// TensorFlow has NaN, even if a limit exists.
#pragma once

namespace tenon::cpu {

// e^(-x^2) times the integral of e^(t^2) from 0 to x.
double Dawson(double x);

// The integral of e^t / t from -infinity to x, its principal value. NaN for x < 0 and
// infinity.
double ExpIntegral(double x);

// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x.
double FresnelCos(double x);
double FresnelSin(double x);

// The dilogarithm of 1 - x. NaN for x < 0 and infinity.
double Spence(double x);

// The sum of (q + k)^-x over k >= 0; NaN for x < 1. For q < 0, x must be whole: NaN otherwise.
double HurwitzZeta(double x, double q);

}  // namespace tenon::cpu

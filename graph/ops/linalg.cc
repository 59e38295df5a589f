// Matrix products, decompositions, Fourier transforms.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"BatchCholesky", "input: T", "output: T", "T: {double, float}", nullptr, 0, 13,
     "use Cholesky"},
    {"BatchMatMul", "x: T; y: T", "output: T",
     "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}; "
     "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false",
     nullptr},
    {"BatchMatMulV2", "x: T; y: T", "output: T",
     "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, "
     "complex64, complex128}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; "
     "grad_y: bool = false",
     nullptr},
    {"BatchMatMulV3", "x: Ta; y: Tb", "output: Tout",
     "Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
     "complex128}; Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, "
     "complex64, complex128}; "
     "Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}; "
     "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false",
     nullptr},
    {"BatchMatrixDeterminant", "input: T", "output: T", "T: {float, double, complex64, complex128}",
     nullptr, 0, 13, "use MatrixDeterminant"},
    {"BatchMatrixInverse", "input: T", "output: T", "adjoint: bool = false; T: {double, float}",
     nullptr, 0, 13, "use MatrixInverse"},
    {"Cholesky", "input: T", "output: T", "T: {double, float, half, complex64, complex128}",
     nullptr},
    {"CholeskyGrad", "l: T; grad: T", "output: T", "T: {half, float, double}", nullptr},
    {"Cross", "a: T; b: T", "product: T", "T: realnumbertype", nullptr},
    {"Eig", "input: T", "e: Tout; v: Tout",
     "compute_v: bool = true; T: {float, double, complex64, complex128}; "
     "Tout: {complex64, complex128}",
     nullptr},
    {"Einsum", "inputs: N * T", "output: T", "equation: string; N: int; T: type", nullptr},
    {"FFT", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"FFT2D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"FFT3D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"_FusedMatMul", "a: T; b: T; args: num_args * T", "product: T",
     "transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float}; "
     "num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 0.0001; "
     "leakyrelu_alpha: float = 0.2",
     nullptr},
    {"IFFT", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"IFFT2D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"IFFT3D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"IRFFT", "input: Tcomplex; fft_length: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"IRFFT2D", "input: Tcomplex; fft_length: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"IRFFT3D", "input: Tcomplex; fft_length: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"LogMatrixDeterminant", "input: T", "sign: T; log_abs_determinant: T",
     "T: {half, float, double, complex64, complex128}", nullptr},
    {"Lu", "input: T", "lu: T; p: output_idx_type",
     "T: {double, float, half, complex64, complex128}; output_idx_type: {int32, int64} = DT_INT32",
     nullptr},
    {"MatMul", "a: T; b: T", "product: T",
     "transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float, double, "
     "int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}; grad_a: bool = false; "
     "grad_b: bool = false",
     nullptr},
    {"MatrixDeterminant", "input: T", "output: T",
     "T: {half, float, double, complex64, complex128}", nullptr},
    {"MatrixExponential", "input: T", "output: T",
     "T: {double, float, half, complex64, complex128}", nullptr, 0, 27, "use Python"},
    {"MatrixInverse", "input: T", "output: T",
     "adjoint: bool = false; T: {double, float, half, complex64, complex128}", nullptr},
    {"MatrixLogarithm", "input: T", "output: T", "T: {complex64, complex128}", nullptr},
    {"MatrixSolve", "matrix: T; rhs: T", "output: T",
     "adjoint: bool = false; T: {double, float, half, complex64, complex128}", nullptr},
    {"MatrixSolveLs", "matrix: T; rhs: T; l2_regularizer: double", "output: T",
     "T: {double, float, half, complex64, complex128}; fast: bool = true", nullptr},
    {"MatrixSquareRoot", "input: T", "output: T", "T: {double, float, half, complex64, complex128}",
     nullptr},
    {"MatrixTriangularSolve", "matrix: T; rhs: T", "output: T",
     "lower: bool = true; adjoint: bool = false; "
     "T: {bfloat16, double, float, half, complex64, complex128}",
     nullptr},
    {"Qr", "input: T", "q: T; r: T",
     "full_matrices: bool = false; T: {double, float, half, complex64, complex128}", nullptr},
    {"RFFT", "input: Treal; fft_length: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"RFFT2D", "input: Treal; fft_length: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"RFFT3D", "input: Treal; fft_length: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"SelfAdjointEig", "input: T", "output: T", "T: {double, float, half}", nullptr, 0, 11,
     "use SelfAdjointEigV2"},
    {"SelfAdjointEigV2", "input: T", "e: T; v: T",
     "compute_v: bool = true; T: {double, float, half, complex64, complex128}", nullptr},
    {"SparseMatMul", "a: Ta; b: Tb", "product: float",
     "transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; "
     "b_is_sparse: bool = false; Ta: {float, bfloat16} = DT_FLOAT; "
     "Tb: {float, bfloat16} = DT_FLOAT",
     nullptr},
    {"Svd", "input: T", "s: T; u: T; v: T",
     "compute_uv: bool = true; full_matrices: bool = false; "
     "T: {double, float, half, complex64, complex128}",
     nullptr},
    {"TridiagonalMatMul", "superdiag: T; maindiag: T; subdiag: T; rhs: T", "output: T",
     "T: {double, float, complex64, complex128}", nullptr},
    {"TridiagonalSolve", "diagonals: T; rhs: T", "output: T",
     "partial_pivoting: bool = true; perturb_singular: bool = false; "
     "T: {double, float, complex64, complex128}",
     nullptr},
};

}  // namespace

absl::Span<const OpSpec> Linalg() { return kOps; }

}  // namespace tenon::ops

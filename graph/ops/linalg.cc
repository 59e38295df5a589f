// Matrix products, decompositions, Fourier transforms.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"BandedTriangularSolve", "matrix: T; rhs: T", "output: T",
     "lower: bool = true; adjoint: bool = false; T: {double, float, half, complex64, complex128}",
     nullptr},
    {"BatchCholesky", "input: T", "output: T", "T: {double, float}", nullptr, 0, 13,
     "use Cholesky"},
    {"BatchCholeskyGrad", "l: T; grad: T", "output: T", "T: {float, double}", nullptr, 0, 13,
     "use CholeskyGrad"},
    {"BatchFFT", "input: complex64", "output: complex64", "", nullptr, 0, 15, "use FFT"},
    {"BatchFFT2D", "input: complex64", "output: complex64", "", nullptr, 0, 15, "use FFT2D"},
    {"BatchFFT3D", "input: complex64", "output: complex64", "", nullptr, 0, 15, "use FFT3D"},
    {"BatchIFFT", "input: complex64", "output: complex64", "", nullptr, 0, 15, "use IFFT"},
    {"BatchIFFT2D", "input: complex64", "output: complex64", "", nullptr, 0, 15, "use IFFT2D"},
    {"BatchIFFT3D", "input: complex64", "output: complex64", "", nullptr, 0, 15, "use IFFT3D"},
    {"BatchMatMul", "x: T; y: T", "output: T",
     "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}; "
     "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false",
     BatchMatMulShape},
    {"BatchMatMulV2", "x: T; y: T", "output: T",
     "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, "
     "complex64, complex128}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; "
     "grad_y: bool = false",
     BatchMatMulShape},
    {"BatchMatMulV3", "x: Ta; y: Tb", "output: Tout",
     "Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
     "complex128}; Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, "
     "complex64, complex128}; "
     "Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}; "
     "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false",
     BatchMatMulShape},
    {"BatchMatrixDeterminant", "input: T", "output: T", "T: {float, double, complex64, complex128}",
     nullptr, 0, 13, "use MatrixDeterminant"},
    {"BatchMatrixInverse", "input: T", "output: T", "adjoint: bool = false; T: {double, float}",
     nullptr, 0, 13, "use MatrixInverse"},
    {"BatchMatrixSolve", "matrix: T; rhs: T", "output: T",
     "adjoint: bool = false; T: {double, float}", nullptr, 0, 13, "use MatrixSolve"},
    {"BatchMatrixSolveLs", "matrix: T; rhs: T; l2_regularizer: double", "output: T",
     "T: {double, float}; fast: bool = true", nullptr, 0, 13, "use MatrixSolveLs"},
    {"BatchMatrixTriangularSolve", "matrix: T; rhs: T", "output: T",
     "lower: bool = true; adjoint: bool = false; T: {double, float}", nullptr, 0, 13,
     "use MatrixTriangularSolve"},
    {"BatchSelfAdjointEig", "input: T", "output: T", "T: {double, float}", nullptr, 0, 11,
     "use SelfAdjointEigV2"},
    {"BatchSelfAdjointEigV2", "input: T", "e: T; v: T",
     "compute_v: bool = true; T: {double, float}", nullptr, 0, 13, "use SelfAdjointEigV2"},
    {"BatchSvd", "input: T", "s: T; u: T; v: T",
     "compute_uv: bool = true; full_matrices: bool = false; "
     "T: {double, float, complex64, complex128}",
     nullptr, 0, 13, "use Svd"},
    {"Cholesky", "input: T", "output: T", "T: {double, float, half, complex64, complex128}",
     SquareMatrixShape},
    {"CholeskyGrad", "l: T; grad: T", "output: T", "T: {half, float, double}", SquareMatrixShape},
    {"Cross", "a: T; b: T", "product: T", "T: realnumbertype", CrossShape},
    {"Eig", "input: T", "e: Tout; v: Tout",
     "compute_v: bool = true; T: {float, double, complex64, complex128}; "
     "Tout: {complex64, complex128}",
     SelfAdjointEigShape},
    {"Einsum", "inputs: N * T", "output: T", "equation: string; N: int; T: type", EinsumShape},
    {"FFT", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", FftShape},
    {"FFT2D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", Fft2DShape},
    {"FFT3D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", Fft3DShape},
    {"FFTND", "input: Tcomplex; fft_length: int32; axes: int32", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"_FusedMatMul", "a: T; b: T; args: num_args * T", "product: T",
     "transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float}; "
     "num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 0.0001; "
     "leakyrelu_alpha: float = 0.2",
     MatMulShape},
    {"_MklFusedBatchMatMulV2", "x: T; y: T; args: num_args * T", "output: T",
     "T: {bfloat16, float, half}; adj_x: bool = false; adj_y: bool = false; num_args: int >= 0; "
     "fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
     BatchMatMulShape},
    {"IFFT", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", FftShape},
    {"IFFT2D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", Fft2DShape},
    {"IFFT3D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", Fft3DShape},
    {"IFFTND", "input: Tcomplex; fft_length: int32; axes: int32", "output: Tcomplex",
     "Tcomplex: {complex64, complex128} = DT_COMPLEX64", nullptr},
    {"IRFFT", "input: Tcomplex; fft_length: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     IrfftShape},
    {"IRFFT2D", "input: Tcomplex; fft_length: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     Irfft2DShape},
    {"IRFFT3D", "input: Tcomplex; fft_length: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     Irfft3DShape},
    {"IRFFTND", "input: Tcomplex; fft_length: int32; axes: int32", "output: Treal",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"LogMatrixDeterminant", "input: T", "sign: T; log_abs_determinant: T",
     "T: {half, float, double, complex64, complex128}", DeterminantShape},
    {"Lu", "input: T", "lu: T; p: output_idx_type",
     "T: {double, float, half, complex64, complex128}; output_idx_type: {int32, int64} = DT_INT32",
     LuShape},
    {"MatMul", "a: T; b: T", "product: T",
     "transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float, double, "
     "int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}; grad_a: bool = false; "
     "grad_b: bool = false",
     MatMulShape},
    {"MatrixDeterminant", "input: T", "output: T",
     "T: {half, float, double, complex64, complex128}", DeterminantShape},
    {"MatrixExponential", "input: T", "output: T",
     "T: {double, float, half, complex64, complex128}", SquareMatrixShape, 0, 27, "use Python"},
    {"MatrixInverse", "input: T", "output: T",
     "adjoint: bool = false; T: {double, float, half, complex64, complex128}", SquareMatrixShape},
    {"MatrixLogarithm", "input: T", "output: T", "T: {complex64, complex128}", SquareMatrixShape},
    {"MatrixSolve", "matrix: T; rhs: T", "output: T",
     "adjoint: bool = false; T: {double, float, half, complex64, complex128}", MatrixSolveShape},
    {"MatrixSolveLs", "matrix: T; rhs: T; l2_regularizer: double", "output: T",
     "T: {double, float, half, complex64, complex128}; fast: bool = true", MatrixSolveLsShape},
    {"MatrixSquareRoot", "input: T", "output: T", "T: {double, float, half, complex64, complex128}",
     SquareMatrixShape},
    {"MatrixTriangularSolve", "matrix: T; rhs: T", "output: T",
     "lower: bool = true; adjoint: bool = false; "
     "T: {bfloat16, double, float, half, complex64, complex128}",
     MatrixTriangularSolveShape},
    {"Qr", "input: T", "q: T; r: T",
     "full_matrices: bool = false; T: {double, float, half, complex64, complex128}", QrShape},
    {"RFFT", "input: Treal; fft_length: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     RfftShape},
    {"RFFT2D", "input: Treal; fft_length: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     Rfft2DShape},
    {"RFFT3D", "input: Treal; fft_length: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     Rfft3DShape},
    {"RFFTND", "input: Treal; fft_length: int32; axes: int32", "output: Tcomplex",
     "Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64",
     nullptr},
    {"SelfAdjointEig", "input: T", "output: T", "T: {double, float, half}", nullptr, 0, 11,
     "use SelfAdjointEigV2"},
    {"SelfAdjointEigV2", "input: T", "e: T; v: T",
     "compute_v: bool = true; T: {double, float, half, complex64, complex128}",
     SelfAdjointEigShape},
    {"SparseMatMul", "a: Ta; b: Tb", "product: float",
     "transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; "
     "b_is_sparse: bool = false; Ta: {float, bfloat16} = DT_FLOAT; "
     "Tb: {float, bfloat16} = DT_FLOAT",
     SparseMatMulShape},
    {"Svd", "input: T", "s: T; u: T; v: T",
     "compute_uv: bool = true; full_matrices: bool = false; "
     "T: {double, float, half, complex64, complex128}",
     SvdShape},
    {"TridiagonalMatMul", "superdiag: T; maindiag: T; subdiag: T; rhs: T", "output: T",
     "T: {double, float, complex64, complex128}", TridiagonalMatMulShape},
    {"TridiagonalSolve", "diagonals: T; rhs: T", "output: T",
     "partial_pivoting: bool = true; perturb_singular: bool = false; "
     "T: {double, float, complex64, complex128}",
     TridiagonalSolveShape},
};

}  // namespace

absl::Span<const OpSpec> Linalg() { return kOps; }

}  // namespace tenon::ops

// Sparse matrices where TensorFlow's CPU has no kernels to compare with. The other ops are op
// cases.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::sparse_matrix_test {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::MakeSession;
using testing::Op;
using testing::Values;

constexpr char kT[] = "attr { key: 'T' value { type: DT_FLOAT } }";
constexpr char kType[] = "attr { key: 'type' value { type: DT_FLOAT } }";

template <typename T>
std::string Numbers(std::string_view name, std::string_view type, std::string_view field,
                    const std::vector<int>& dims, const std::vector<T>& values) {
  std::string shape;
  for (int dim : dims) absl::StrAppend(&shape, " dim { size: ", dim, " }");
  return Const(
      name, type,
      absl::StrCat("tensor_shape {", shape, " } ", field, ": [", absl::StrJoin(values, ", "), "]"));
}
std::string Floats(std::string_view name, const std::vector<int>& dims,
                   const std::vector<float>& values) {
  return Numbers(name, "DT_FLOAT", "float_val", dims, values);
}

// A sparse matrix with these values at (row, column) of each of `places`.
std::string Sparse(const std::string& name, const std::vector<float>& places,
                   const std::vector<float>& values, const std::vector<float>& shape = {2, 3}) {
  const int count = static_cast<int>(values.size()), rank = static_cast<int>(shape.size());
  return Numbers(name + "_places", "DT_INT64", "int64_val", {count, rank}, places) +
         Floats(name + "_values", {count}, values) +
         Numbers(name + "_shape", "DT_INT64", "int64_val", {rank}, shape) +
         Op(name, "SparseTensorToCSRSparseMatrix",
            {name + "_places", name + "_values", name + "_shape"}, kT);
}

// What `sparse` holds in dense form; after a failure a NaN.
std::vector<float> Dense(const std::string& text, absl::Status* status = nullptr) {
  auto session = MakeSession(text + Op("dense", "CSRSparseMatrixToDense", {"sparse"}, kType));
  const auto out = session->Run({}, {"dense"});
  if (status != nullptr) *status = out.status();
  if (out.ok()) return Values((*out)[0]);
  if (status == nullptr) ADD_FAILURE() << out.status();
  return {NAN};
}

std::string A() { return Sparse("a", {0, 0, 0, 2, 1, 1}, {1, 2, 3}); }
std::string B() { return Sparse("b", {0, 1, 0, 2}, {10, 20}); }

TEST(SparseMatrices, AreAdded) {
  const std::string scale = Floats("alpha", {}, {2}) + Floats("beta", {}, {-1});
  EXPECT_THAT(
      Dense(A() + B() + scale + Op("sparse", "SparseMatrixAdd", {"a", "b", "alpha", "beta"}, kT)),
      ElementsAre(2, -10, -16, 0, 6, 0));

  absl::Status status;
  Dense(A() + Sparse("b", {0, 1}, {1}, {3, 3}) + scale +
            Op("sparse", "SparseMatrixAdd", {"a", "b", "alpha", "beta"}, kT),
        &status);
  EXPECT_THAT(status.message(), HasSubstr("the same shape, not [2,3] and [3,3]"));
  Dense(A() + Sparse("b", {0, 2, 0, 1}, {1, 2}) + scale +
            Op("sparse", "SparseMatrixAdd", {"a", "b", "alpha", "beta"}, kT),
        &status);
  EXPECT_THAT(status.message(), HasSubstr("row 0 of a sparse matrix do not increase"));
}

TEST(SparseMatrices, AreScaled) {
  EXPECT_THAT(Dense(A() + Floats("f", {}, {-2}) + Op("sparse", "SparseMatrixMul", {"a", "f"}, kT)),
              ElementsAre(-2, 0, -4, 0, -6, 0));
  const std::string batch = Sparse("a", {0, 0, 0, 1, 1, 1}, {3, 4}, {2, 2, 2});
  EXPECT_THAT(Dense(batch + Floats("f", {2, 1, 1}, {10, 100}) +
                    Op("sparse", "SparseMatrixMul", {"a", "f"}, kT)),
              ElementsAre(30, 0, 0, 0, 0, 0, 0, 400));
  absl::Status status;
  Dense(batch + Floats("f", {2}, {1, 2}) + Op("sparse", "SparseMatrixMul", {"a", "f"}, kT),
        &status);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(SparseMatrices, OfABatchOfNoneHaveAProduct) {
  auto session = MakeSession(Sparse("a", {}, {}, {0, 2, 2}) + Floats("b", {0, 2, 3}, {}) +
                             Op("y", "SparseMatrixMatMul", {"a", "b"}, kT));
  const auto out = session->Run({}, {"y"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].shape(), Shape({0, 2, 3}));
}

TEST(SparseMatrices, AreEmptyWhenMade) {
  EXPECT_THAT(Dense(Numbers("shape", "DT_INT64", "int64_val", {2}, std::vector<int64_t>{2, 2}) +
                    Op("sparse", "SparseMatrixZeros", {"shape"}, kType)),
              ElementsAre(0, 0, 0, 0));
  absl::Status status;
  Dense(Numbers("shape", "DT_INT64", "int64_val", {2}, std::vector<int64_t>{int64_t{1} << 31, 2}) +
            Op("sparse", "SparseMatrixZeros", {"shape"}, kType),
        &status);
  EXPECT_THAT(status.message(), HasSubstr("beyond what 32 bits can count"));
}

TEST(SparseMatrices, HaveASoftmaxOfWhatIsThere) {
  const float y = 1 / (1 + std::exp(1.0f));
  const std::string softmax = A() + Op("y", "SparseMatrixSoftmax", {"a"}, kType);
  const auto near = [](float x) { return FloatNear(x, 1e-6f); };
  EXPECT_THAT(Dense(softmax + Op("sparse", "SparseMatrixTranspose", {"y"}, kType)),
              ElementsAre(near(y), 0, 0, 1, near(1 - y), 0));
  // The gradient of place (0, 2) alone; that of (0, 1) leads nowhere.
  const float g = 20 * y * (1 - y);
  EXPECT_THAT(Dense(softmax + B() + Op("sparse", "SparseMatrixSoftmaxGrad", {"y", "b"}, kType)),
              ElementsAre(FloatNear(-g, 1e-5f), 0, FloatNear(g, 1e-5f), 0, 0, 0));
}

}  // namespace
}  // namespace tenon::sparse_matrix_test

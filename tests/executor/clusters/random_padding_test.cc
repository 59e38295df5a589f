// Random graphs on padded inputs answer as they do on the exact ones.
//
// TENON_RANDOM_GRAPHS=1000 asks for more graphs, TENON_RANDOM_FIRST=N TENON_RANDOM_GRAPHS=1
// TENON_RANDOM_PRINT=1 for one and its text.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::random_padding_test {
namespace {

using testing::Const;
using testing::Placeholder;
using testing::Type;

std::string Attr(std::string_view name, std::string_view value) {
  return absl::StrCat("attr { key: '", name, "' value { ", value, " } } ");
}

// Sizes that only a run knows.
constexpr int kBatch = -1, kLength = -2;
// A value of the graph, of floats. Dimensions are kBatch, kLength or numbers.
struct Value {
  std::string name;
  std::vector<int> dims;
  int rank() const { return static_cast<int>(dims.size()); }
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  // Feeds are x [batch, length, 4], y [batch, 4] and z [length, 4].
  std::string Make() {
    text_ = Placeholder("x", "dim { size: -1 } dim { size: -1 } dim { size: 4 }") +
            Placeholder("y", "dim { size: -1 } dim { size: 4 }") +
            Placeholder("z", "dim { size: -1 } dim { size: 4 }");
    values_ = {{"x", {kBatch, kLength, 4}}, {"y", {kBatch, 4}}, {"z", {kLength, 4}}};
    const int count = 3 + Random(10);
    for (int i = 0; i < count; ++i) Add();
    return text_;
  }
  // The last values, which most others have led to.
  std::vector<std::string> fetches() const {
    std::vector<std::string> names;
    for (size_t i = values_.size() - std::min<size_t>(2, values_.size() - 3); i < values_.size();
         ++i)
      names.push_back(values_[i].name);
    return names;
  }

 private:
  int Random(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  const Value& Any() {
    const int count = static_cast<int>(values_.size());
    return Random(2) == 0 ? values_[Random(count)]
                          : values_[count - 1 - Random(std::min(count, 3))];
  }
  std::string Name(std::string_view what) { return absl::StrCat(what, "_", ++names_); }
  std::string Ints(const std::vector<int>& values) {
    const std::string name = Name("ints");
    std::string text = absl::StrCat("tensor_shape { dim { size: ", values.size(), " } }");
    for (const int v : values) absl::StrAppend(&text, " int_val: ", v);
    text_ += Const(name, "DT_INT32", text);
    return name;
  }
  std::string Int(int value) {
    const std::string name = Name("int");
    text_ += Const(name, "DT_INT32", absl::StrCat("tensor_shape { } int_val: ", value));
    return name;
  }
  std::string Op(std::string_view op, std::vector<std::string> inputs, std::string_view attrs = "",
                 std::string_view type = "DT_FLOAT") {
    const std::string name = Name(op);
    text_ += testing::Node(name, op, std::move(inputs), attrs, type);
    return name;
  }
  void Keep(std::string name, std::vector<int> dims) {
    if (dims.size() <= 4) values_.push_back({std::move(name), std::move(dims)});
  }
  std::string Floats(std::string_view from, std::string_view type) {
    return Op("Cast", {std::string(from)}, Type("SrcT", type) + Type("DstT", "DT_FLOAT"), "");
  }
  // One dimension of the shape of a value, as a scalar.
  std::string SizeOf(const Value& v, int axis) {
    const std::string shape = Op("Shape", {v.name});
    return Op("StridedSlice", {shape, Ints({axis}), Ints({axis + 1}), Ints({1})},
              Type("Index", "DT_INT32") + Attr("shrink_axis_mask", "i: 1"), "DT_INT32");
  }

  void Add() {
    constexpr int kKinds = 24;
    const Value v = Any();
    const int kind = Random(kKinds);
    if (v.rank() == 0 || kind < 4) return Unary(v);
    const int axis = Random(v.rank());
    switch (kind) {
      case 4:
      case 5:
      case 6:
        return Binary(v);
      case 7:
        return Reduction(v, axis);
      case 8:
        return Keep(Op("Softmax", {v.name}), v.dims);
      case 9:
      case 10:
        return Product(v);
      case 11: {
        std::vector<int> perm(v.dims.size()), dims;
        for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int>(i);
        std::shuffle(perm.begin(), perm.end(), random_);
        for (const int p : perm) dims.push_back(v.dims[p]);
        return Keep(Op("Transpose", {v.name, Ints(perm)}, Type("Tperm", "DT_INT32")), dims);
      }
      case 12:
        return Merge(v, axis);
      case 13: {
        const Value& other = Any();
        const bool fits = other.dims == v.dims && v.dims[axis] > 0;
        std::vector<int> dims = v.dims;
        dims[axis] = fits ? 2 * dims[axis] : 0;
        if (!fits || dims[axis] > 64) return Unary(v);
        return Keep(Op("ConcatV2", {v.name, other.name, Int(axis)},
                       Attr("N", "i: 2") + Type("Tidx", "DT_INT32")),
                    dims);
      }
      case 14:
        return Keep(Op("ReverseV2", {v.name, Ints({axis})}, Type("Tidx", "DT_INT32")), v.dims);
      case 15:
        return Keep(
            Op("Cumsum", {v.name, Int(axis)},
               Type("Tidx", "DT_INT32") + (Random(2) == 0 ? Attr("reverse", "b: true") : "") +
                   (Random(2) == 0 ? Attr("exclusive", "b: true") : "")),
            v.dims);
      case 16: {
        std::vector<int> dims = v.dims;
        dims.erase(dims.begin() + axis);
        const std::string best = Op(Random(2) == 0 ? "ArgMax" : "ArgMin", {v.name, Int(axis)},
                                    Type("Tidx", "DT_INT32") + Type("output_type", "DT_INT32"));
        return Keep(Floats(best, "DT_INT32"), dims);
      }
      case 17:
        return Pick(v, axis);
      case 18: {
        std::vector<int> dims = v.dims;
        dims.insert(dims.begin() + axis, 1);
        return Keep(Op("ExpandDims", {v.name, Int(axis)}, Type("Tdim", "DT_INT32")), dims);
      }
      case 19:
        return Keep(Op("Mul", {v.name, Floats(SizeOf(v, axis), "DT_INT32")}), v.dims);
      case 20: {
        const std::string range =
            Op("Range", {Int(0), SizeOf(v, v.rank() - 1), Int(1)}, Type("Tidx", "DT_INT32"), "");
        return Keep(Op("AddV2", {v.name, Floats(range, "DT_INT32")}), v.dims);
      }
      case 21: {
        if (v.rank() < 2) return Unary(v);
        return Keep(Op("MatrixBandPart", {v.name, Int(Random(3) - 1), Int(Random(3) - 1)},
                       Type("Tindex", "DT_INT32")),
                    v.dims);
      }
      case 22:
        return Gather(v);
      default:
        return Widen(v, axis);
    }
  }

  void Unary(const Value& v) {
    constexpr const char* kOps[] = {"Relu", "Tanh", "Neg", "Abs", "Square", "Sigmoid", "Identity"};
    Keep(Op(kOps[Random(std::size(kOps))], {v.name}), v.dims);
  }

  void Binary(const Value& v) {
    constexpr const char* kOps[] = {"AddV2", "Mul", "Sub", "Maximum", "Minimum"};
    const Value& other = Any();
    const std::string op = kOps[Random(std::size(kOps))];
    // Shapes that broadcast: each dimension is the same, or 1, or missing.
    std::vector<int> dims(static_cast<size_t>(std::max(v.rank(), other.rank())));
    for (size_t i = 0; i < dims.size(); ++i) {
      const int a = i < v.dims.size() ? v.dims[v.dims.size() - 1 - i] : 1;
      const int b = i < other.dims.size() ? other.dims[other.dims.size() - 1 - i] : 1;
      if (a != b && a != 1 && b != 1) return Keep(Op(op, {v.name, v.name}), v.dims);
      dims[dims.size() - 1 - i] = a == 1 ? b : a;
    }
    if (Random(3) > 0) return Keep(Op(op, {v.name, other.name}), dims);
    const std::string less = Op("Less", {v.name, other.name});
    Keep(Op("SelectV2", {less, v.name, other.name}), dims);
  }

  void Reduction(const Value& v, int axis) {
    constexpr const char* kOps[] = {"Sum", "Mean", "Max", "Min"};
    const bool keep = Random(2) == 0;
    std::vector<int> dims = v.dims;
    if (keep) {
      dims[axis] = 1;
    } else {
      dims.erase(dims.begin() + axis);
    }
    Keep(Op(kOps[Random(std::size(kOps))], {v.name, Ints({axis})},
            Type("Tidx", "DT_INT32") + (keep ? Attr("keep_dims", "b: true") : "")),
         dims);
  }

  // By weights, or by itself.
  void Product(const Value& v) {
    const int k = v.dims.back();
    if (v.rank() < 2 || v.dims.size() > 3) return Unary(v);
    const std::string calm = Op("Tanh", {v.name});
    if (k > 0 && k <= 16 && Random(2) == 0) {
      const std::string name = Name("weights");
      std::string text = absl::StrCat("tensor_shape { dim { size: ", k, " } dim { size: 3 } }");
      for (int i = 0; i < 3 * k; ++i) absl::StrAppend(&text, " float_val: ", i % 5 * 0.5 - 1);
      text_ += Const(name, "DT_FLOAT", text);
      std::vector<int> dims = v.dims;
      dims.back() = 3;
      return Keep(Op("BatchMatMulV2", {calm, name}), dims);
    }
    std::vector<int> dims = v.dims;
    const bool first = Random(2) == 0;
    dims[dims.size() - 1] = dims[dims.size() - 2] =
        first ? v.dims[v.dims.size() - 1] : v.dims[v.dims.size() - 2];
    Keep(Op("BatchMatMulV2", {calm, calm}, Attr(first ? "adj_x" : "adj_y", "b: true")), dims);
  }

  // Two neighbours become one dimension: [a, b, c] is [a, -1] or [-1, c].
  void Merge(const Value& v, int axis) {
    if (v.rank() < 2) return Unary(v);
    const int first = std::min(axis, v.rank() - 2);
    if (v.dims[first] < 0 && v.dims[first + 1] < 0) {
      // There is no name for the product of both: it is summed up.
      std::vector<int> dims;
      std::vector<std::string> sizes;
      for (int i = 0; i < v.rank(); ++i) {
        if (i == first + 1) continue;
        sizes.push_back(i == first ? Int(-1) : SizeOf(v, i));
        if (i != first) dims.push_back(v.dims[i]);
      }
      const std::string flat = Reshape(v, sizes);
      return Keep(
          Op(Random(2) == 0 ? "Max" : "Sum", {flat, Ints({first})}, Type("Tidx", "DT_INT32")),
          dims);
    }
    // Back again, with something in between.
    std::vector<std::string> merged, sizes;
    for (int i = 0; i < v.rank(); ++i) {
      if (i != first + 1) merged.push_back(i == first ? Int(-1) : SizeOf(v, i));
      sizes.push_back(SizeOf(v, i));
    }
    std::string flat = Reshape(v, merged);
    if (Random(2) == 0) flat = Op("Softmax", {flat});
    Keep(Reshape({flat, {}}, sizes), v.dims);
  }
  std::string Reshape(const Value& v, const std::vector<std::string>& sizes) {
    const std::string shape =
        Op("Pack", sizes, Attr("N", absl::StrCat("i: ", sizes.size())) + Attr("axis", "i: 0"),
           "DT_INT32");
    return Op("Reshape", {v.name, shape}, Type("Tshape", "DT_INT32"));
  }

  // The first, the last, or the second place of a dimension.
  void Pick(const Value& v, int axis) {
    const int at = Random(3) - 1;
    std::vector<int> begin(v.dims.size(), 0), end(v.dims.size(), 0), one(v.dims.size(), 1), dims;
    begin[axis] = at;
    end[axis] = at == -1 ? 0 : at + 1;
    if (at == 1 && (v.dims[axis] == 1 || v.dims[axis] == 0)) return Unary(v);
    for (int i = 0; i < v.rank(); ++i)
      if (i != axis) dims.push_back(v.dims[i]);
    const int all = (1 << v.rank()) - 1 - (1 << axis);
    Keep(Op("StridedSlice", {v.name, Ints(begin), Ints(end), Ints(one)},
            Type("Index", "DT_INT32") + Attr("begin_mask", absl::StrCat("i: ", all)) +
                Attr("end_mask", absl::StrCat("i: ", all)) +
                Attr("shrink_axis_mask", absl::StrCat("i: ", 1 << axis))),
         dims);
  }

  // Rows of the value by numbers that the value itself gives.
  void Gather(const Value& v) {
    const std::string best = Op("ArgMax", {v.name, Int(v.rank() - 1)},
                                Type("Tidx", "DT_INT32") + Type("output_type", "DT_INT32"));
    const std::string zero = Op("Minimum", {best, Int(0)}, "", "DT_INT32");
    std::vector<int> dims(v.dims.begin(), v.dims.end() - 1);
    dims.insert(dims.end(), v.dims.begin() + 1, v.dims.end());
    Keep(Op("GatherV2", {v.name, zero, Int(0)},
            Type("Tparams", "DT_FLOAT") + Type("Tindices", "DT_INT32") + Type("Taxis", "DT_INT32"),
            ""),
         dims);
  }

  // Zeros in front of or behind a dimension whose size is known; twice the dimension.
  void Widen(const Value& v, int axis) {
    std::vector<int> dims = v.dims;
    if (dims[axis] < 1 || dims[axis] > 16) {
      // Of the others the last place goes and a zero comes in front, or the other way round.
      const std::string name = Name("pads");
      std::string text =
          absl::StrCat("tensor_shape { dim { size: ", v.rank(), " } dim { size: 2 } }");
      const bool front = Random(2) == 0;
      std::vector<int> begin(v.dims.size(), 0), end(v.dims.size(), 0), one(v.dims.size(), 1);
      for (int i = 0; i < v.rank(); ++i)
        absl::StrAppend(&text, " int_val: ", i == axis && front ? 1 : 0,
                        " int_val: ", i == axis && !front ? 1 : 0);
      text_ += Const(name, "DT_INT32", text);
      (front ? end : begin)[axis] = front ? -1 : 1;
      const int all = (1 << v.rank()) - 1;
      const int others = all - (1 << axis);
      const std::string wide = Op("Pad", {v.name, name}, Type("Tpaddings", "DT_INT32"));
      return Keep(Op("StridedSlice", {wide, Ints(begin), Ints(end), Ints(one)},
                     Type("Index", "DT_INT32") +
                         Attr("begin_mask", absl::StrCat("i: ", front ? all : others)) +
                         Attr("end_mask", absl::StrCat("i: ", front ? others : all))),
                  dims);
    }
    std::vector<int> times(dims.size(), 1);
    times[axis] = 2;
    dims[axis] *= 2;
    Keep(Op("Tile", {v.name, Ints(times)}, Type("Tmultiples", "DT_INT32")), dims);
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<Value> values_;
  int names_ = 0;
};

Tensor Data(const Shape& shape, std::mt19937& random, bool odd) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const auto k = static_cast<int>(random() % 64);
    float v = static_cast<float>(k) / 8 - 4;
    if (odd && k == 3) v = std::numeric_limits<float>::quiet_NaN();
    if (odd && k == 5) v = std::numeric_limits<float>::infinity();
    values.push_back(v);
  }
  return testing::Floats(values, shape);
}

int Number(const char* name, int otherwise) {
  int number = 0;
  const char* const text = std::getenv(name);
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

TEST(RandomPadding, ChangesNoAnswer) {
  const int first = Number("TENON_RANDOM_FIRST", 1), count = Number("TENON_RANDOM_GRAPHS", 150);
  const testing::ReferencePlugin plugin;
  int64_t padded = 0, exact = 0;
  for (int seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(absl::StrCat("TENON_RANDOM_FIRST=", seed));
    Maker maker(static_cast<uint32_t>(seed));
    const std::string text = maker.Make();
    if (std::getenv("TENON_RANDOM_PRINT") != nullptr) std::printf("%s", text.c_str());
    ClusterOptions clusters;
    clusters.errors = XlaErrors::kFail;
    clusters.buckets = *Buckets::Parse(seed % 2 == 0 ? "pow2" : "4,7,16");
    const auto session = plugin.Open(text, clusters);
    clusters.buckets = Buckets();
    const auto right = plugin.Open(text, clusters);
    ASSERT_TRUE(session != nullptr && right != nullptr);
    const auto executable = session->Prepare({"x", "y", "z"}, maker.fetches());
    ASSERT_TRUE(executable.ok()) << executable.status();
    std::mt19937 random(static_cast<uint32_t>(seed));
    for (int run = 0; run < 4; ++run) {
      const auto batch = static_cast<int64_t>(1 + random() % 9);
      const auto length = static_cast<int64_t>(1 + random() % 9);
      const bool odd = run % 2 == 1;
      const std::vector<Tensor> feeds = {Data(Shape({batch, length, 4}), random, odd),
                                         Data(Shape({batch, 4}), random, odd),
                                         Data(Shape({length, 4}), random, odd)};
      const auto want =
          right->Run({{"x", feeds[0]}, {"y", feeds[1]}, {"z", feeds[2]}}, maker.fetches());
      const auto got = session->Run(*executable, feeds);
      ASSERT_EQ(want.status().code(), got.status().code()) << batch << " " << length << "\n"
                                                           << want.status() << "\n"
                                                           << got.status();
      for (size_t i = 0; want.ok() && i < want->size(); ++i) {
        ASSERT_EQ(testing::Difference((*want)[i], (*got)[i]), std::nullopt)
            << "batch " << batch << ", length " << length << ", " << maker.fetches()[i];
      }
    }
    for (const ClusterRuns& runs : testing::RunsOf(**executable)) {
      padded += runs.padded_runs;
      exact += runs.runs - runs.padded_runs;
    }
  }
  // The test is worth something only if much is padded, and much is not.
  if (count < 100) return;
  EXPECT_GT(padded, count / 2);
  EXPECT_GT(exact, count / 4);
}

}  // namespace
}  // namespace tenon::random_padding_test

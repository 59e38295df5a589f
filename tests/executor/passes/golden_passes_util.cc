#include "tests/executor/passes/golden_passes_util.h"

#include <algorithm>
#include <complex>
#include <fstream>
#include <limits>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The words after "# key:" in the file's comments.
std::vector<std::string> Header(std::string_view text, std::string_view key) {
  for (std::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, absl::StrCat("# ", key, ": "))) return absl::StrSplit(line, ' ');
  }
  return {};
}

Tensor Empty(DataType dtype, const PartialShape& shape) {
  Shape known;
  for (int64_t d : shape.dims()) known.push_back(d < 0 ? 3 : d);
  return Tensor::Allocate(dtype, known).value();
}

// The one word after a key, or what stands for none.
std::string Word(std::string_view text, std::string_view key, std::string_view otherwise) {
  const std::vector<std::string> words = Header(text, key);
  return words.empty() ? std::string(otherwise) : words.front();
}

template <typename T>
void Fill(Tensor& t, const std::vector<T>& values, size_t first) {
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.flat<T>()[i] = values[(first + i) % values.size()];
}

template <typename T>
std::vector<T> Numbers() {
  std::vector<T> numbers;
  for (int i = 0; i < 11; ++i) numbers.push_back(static_cast<T>(0.75 * i - 3));
  return numbers;
}

template <typename T>
std::vector<T> FloatCorners() {
  using L = std::numeric_limits<T>;
  return {
      L::quiet_NaN(), T(1.5),  L::infinity(),   T(0),        T(-0.0), -L::infinity(),   L::max(),
      T(-2),          T(1e-3), L::denorm_min(), L::lowest(), T(3),    -L::denorm_min(), T(-0.0)};
}

template <typename T>
std::vector<T> IntCorners() {
  using L = std::numeric_limits<T>;
  return {0, L::max(), 1, L::min(), static_cast<T>(-1), 7};
}

// Bits of half and bfloat16.
const std::vector<uint16_t> kHalves = {0x3e00, 0xc000, 0x0000, 0x3c00, 0xb800, 0x4100};
const std::vector<uint16_t> kHalfCorners = {0x7e00, 0x3e00, 0x7c00, 0x8000, 0x0000,
                                            0xfc00, 0x7bff, 0x0001, 0xc000};

}  // namespace

GoldenPass::GoldenPass(const std::string& path)
    : path(path),
      text(Read(path)),
      pass(this->path.parent_path().filename().string()),
      fetches(Header(text, "fetch")),
      feeds(Header(text, "feed")),
      fast_math(!Header(text, "fast-math").empty()),
      target(Target::Parse(Word(text, "target", "tenon")).value()) {}

std::string GoldenPass::Name() const {
  return absl::StrCat(pass, "_", path.stem().stem().string());
}

std::vector<std::pair<std::string, Tensor>> GoldenPass::Feeds(const Graph& graph,
                                                              MakeFn make) const {
  std::vector<std::pair<std::string, Tensor>> values;
  for (const std::string& name : feeds) {
    const NodeId n = graph.FindNode(name);
    values.emplace_back(name,
                        make(graph.output_type({n, 0}), graph.attr(n, "shape")->AsShape().value(),
                             static_cast<int>(values.size())));
  }
  return values;
}

std::vector<std::string> GoldenPasses() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator("tests/golden/passes")) {
    if (entry.path().string().ends_with(".in.pbtxt")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Tensor OrdinaryFeed(DataType dtype, const PartialShape& shape) {
  Tensor t = Empty(dtype, shape);
  switch (dtype) {
    case DataType::kFloat:
      Fill(t, Numbers<float>(), 0);
      break;
    case DataType::kInt32:
      Fill<int32_t>(t, {1, -2, 0, 3, 1, -1}, 0);
      break;
    case DataType::kUint8:
      Fill<uint8_t>(t, {1, 2, 0, 255}, 0);
      break;
    case DataType::kBool:
      Fill<bool>(t, {true, false, false}, 0);
      break;
    case DataType::kHalf:
    case DataType::kBfloat16:
      Fill(t, kHalves, 0);
      break;
    case DataType::kComplex64:
      Fill<std::complex<float>>(t, {{1, 2}, {-0.5, 3}, {0, -1}}, 0);
      break;
    default:
      ADD_FAILURE() << "no feed of type " << DataTypeName(dtype);
  }
  return t;
}

Tensor CornerFeed(DataType dtype, const PartialShape& shape, int first) {
  Tensor t = Empty(dtype, shape);
  switch (dtype) {
    case DataType::kFloat:
      Fill(t, FloatCorners<float>(), first);
      break;
    case DataType::kInt32:
      Fill(t, IntCorners<int32_t>(), first);
      break;
    case DataType::kUint8:
      Fill(t, IntCorners<uint8_t>(), first);
      break;
    case DataType::kHalf:
    case DataType::kBfloat16:
      Fill(t, kHalfCorners, first);
      break;
    default:
      return OrdinaryFeed(dtype, shape);
  }
  return t;
}

}  // namespace tenon

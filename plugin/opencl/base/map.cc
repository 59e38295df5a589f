#include "map.h"

#include <algorithm>
#include <climits>

#include "launch.h"
#include "text.h"

namespace opencl {
namespace {

std::string N(size_t number) { return std::to_string(number); }

// From here on a GPU has work for all of its units, also if each work-item computes several
// elements.
constexpr int64_t kManyElements = 1 << 20;

// How an input is read.
enum class Way { kRow, kScalar, kLoop };

// What of a call decides the kernel's text.
struct Variant {
  std::vector<Way> ways;
  bool loops = false;  // some input needs the loop
  bool rows = false;
  bool wide = false;  // positions need 64 bits
  int steps = 1;
};

Variant Choose(Device& device, const Loop& loop, int64_t count) {
  Variant variant;
  int64_t farthest = count;
  const Dims in_order = RowMajorStrides(loop.dims);
  for (const Dims& strides : loop.strides) {
    const bool none = std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 0; });
    variant.ways.push_back(none ? Way::kScalar : strides == in_order ? Way::kRow : Way::kLoop);
    variant.loops |= variant.ways.back() == Way::kLoop;
    int64_t reach = 0;
    for (size_t d = 0; d < strides.size(); ++d) reach += std::abs(strides[d]) * loop.dims[d];
    farthest = std::max(farthest, reach);
  }
  variant.wide = farthest > INT_MAX / 2;
  // On a CPU, work-items of one group become a loop of vectors, in which a division costs more than
  // the arithmetic. GPUs divide while they wait for memory.
  variant.rows = variant.loops && !device.is_gpu() && loop.dims.back() >= 16;
  if (device.is_gpu() && count >= kManyElements) variant.steps = 4;
  return variant;
}

// at<k> for inputs that need the loop: the row's number is split from the last dimension on.
std::string LoopPositions(const Variant& variant, const Loop& loop) {
  const size_t rank = loop.dims.size();
  const std::string type = variant.wide ? "long" : "int";
  std::string text = "LENGTH rest = row; ";
  for (size_t k = 0; k < variant.ways.size(); ++k) {
    if (variant.ways[k] == Way::kLoop) {
      text += Joined({type, " at", N(k), " = (", type, ")column * loop.strides", N(k), "[",
                      N(rank - 1), "]; "});
    }
  }
  for (size_t d = rank - 1; d-- > 0;) {
    text += "{ ";
    if (d > 0) {
      text += Joined({"const LENGTH next = rest / loop.dims[", N(d), "]; const ", type, " c = (",
                      type, ")(rest - next * loop.dims[", N(d), "]); rest = next; "});
    } else {
      text += Joined({"const ", type, " c = (", type, ")rest; "});
    }
    for (size_t k = 0; k < variant.ways.size(); ++k) {
      if (variant.ways[k] == Way::kLoop)
        text += "at" + N(k) + " += c * loop.strides" + N(k) + "[" + N(d) + "]; ";
    }
    text += "} ";
  }
  return text;
}

std::string Prologue(const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
                     const Variant& variant, const Loop& loop) {
  std::string types, arguments, numbers, opens, positions, values, members;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::string x = "X" + N(k), in = "in" + N(k), at = "at" + N(k);
    types += DefineType(x.c_str(), TypeOf(inputs[k].type));
    arguments += Joined({"TENSOR(const ", x, "_S, ", in, "), "});
    opens += "OPEN(" + in + "); ";
    if (variant.ways[k] == Way::kRow) positions += "const LENGTH " + at + " = i; ";
    if (variant.ways[k] == Way::kScalar) positions += "const LENGTH " + at + " = 0; ";
    values += Joined({"const ", x, "_C x", N(k), " = ", x, "_GET(", in, ", ", at, "); "});
    members +=
        (variant.wide ? " long strides" : " int strides") + N(k) + "[" + N(loop.dims.size()) + "];";
  }
  for (size_t k = 0; k < body.numbers.size(); ++k) numbers += ", const long n" + N(k);
  std::string text = types + DefineType("O", TypeOf(out.type));
  if (!inputs.empty()) text += "#define C X0_C\n#define U X0_U\n";
  if (variant.loops) {
    positions += LoopPositions(variant, loop);
    text += "typedef struct { " + std::string(variant.wide ? "ulong" : "uint") + " dims[" +
            N(loop.dims.size()) + "];" + members +
            " } Loop;\n#define LOOP Loop\n#define COLUMNS loop.dims[" + N(loop.dims.size() - 1) +
            "]\n";
    if (variant.rows) text += "#define ROWS\n";
  }
  if (!body.report.empty()) text += "#define REPORTS\n";
  text += "#define STEPS " + N(static_cast<size_t>(variant.steps)) + "\n";
  text += "#define LENGTH " + std::string(variant.wide ? "ulong" : "uint") + "\n";
  text += "#define ARGUMENTS " + arguments + "\n#define NUMBERS " + numbers + "\n#define OPENS " +
          opens + "\n#define POSITIONS " + positions + "\n#define VALUES " + values +
          "\n#define BODY " + body.body + "\n";
  return text;
}

Loop LoopOver(const std::vector<Tensor>& inputs, const Tensor& out) {
  std::vector<Dims> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.dims);
  return BroadcastLoop(out.dims, shapes);
}

// All that Prologue reads but the body.
MapCode::Key KeyOf(Call& call, const std::vector<Tensor>& inputs, const Tensor& out,
                   const Variant& variant, const Loop& loop) {
  MapCode::Key key{&call.device()};
  key.types = static_cast<uint64_t>(out.type);
  for (const Tensor& input : inputs) key.types = key.types << 6 | static_cast<uint64_t>(input.type);
  for (const Way way : variant.ways) key.ways = key.ways << 2 | static_cast<uint64_t>(way);
  key.ways = key.ways << 8 | loop.dims.size();
  key.ways = key.ways << 4 | static_cast<uint64_t>(variant.steps);
  key.ways = key.ways << 3 | uint64_t{variant.loops} << 2 | uint64_t{variant.rows} << 1 |
             uint64_t{variant.wide};
  return key;
}

void QueueMap(Call& call, Kernel& kernel, const MapBody& body, const std::vector<Tensor>& inputs,
              const Tensor& out, const Variant& variant, const Loop& loop) {
  Launch launch(call, kernel);
  for (const Tensor& input : inputs) launch.Memory(input);
  launch.Memory(out);
  for (const int64_t number : body.numbers) launch.Value(cl_long{number});
  launch.Length(out.count, variant.wide);
  if (variant.loops) launch.Positions(loop, variant.wide);
  if (!body.report.empty()) launch.Errors(call.device().errors().NumberOf(body.report));
  if (variant.rows) return launch.RunRows(loop.dims.back(), out.count / loop.dims.back());
  launch.Run((out.count + variant.steps - 1) / variant.steps);
}

}  // namespace

Kernel* MapCode::Find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [known, kernel] : kernels_) {
    if (known == key) return kernel;
  }
  return nullptr;
}

void MapCode::Keep(const Key& key, Kernel& kernel) const {
  const std::lock_guard lock(mutex_);
  kernels_.emplace_back(key, &kernel);
}

void RunMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
            Loop loop) {
  if (out.count == 0) return;
  loop.Collapse();
  const Variant variant = Choose(call.device(), loop, out.count);
  Kernel& kernel =
      call.device().programs().Get({"map.cl", Prologue(body, inputs, out, variant, loop), "map"});
  QueueMap(call, kernel, body, inputs, out, variant, loop);
}

void RunMap(Call& call, const MapCode& code, const std::vector<Tensor>& inputs, const Tensor& out,
            Loop loop) {
  if (out.count == 0) return;
  loop.Collapse();
  const Variant variant = Choose(call.device(), loop, out.count);
  const MapCode::Key key = KeyOf(call, inputs, out, variant, loop);
  Kernel* kernel = code.Find(key);
  if (kernel == nullptr) {
    kernel = &call.device().programs().Get(
        {"map.cl", Prologue(code.body(), inputs, out, variant, loop), "map"});
    code.Keep(key, *kernel);
  }
  QueueMap(call, *kernel, code.body(), inputs, out, variant, loop);
}

void RunBroadcastMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs,
                     const Tensor& out) {
  RunMap(call, body, inputs, out, LoopOver(inputs, out));
}

void RunBroadcastMap(Call& call, const MapCode& code, const std::vector<Tensor>& inputs,
                     const Tensor& out) {
  RunMap(call, code, inputs, out, LoopOver(inputs, out));
}

}  // namespace opencl

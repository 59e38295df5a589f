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

MapVariant Choose(Device& device, const Loop& loop, int64_t count) {
  MapVariant variant;
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
std::string LoopPositions(const MapVariant& variant, const Loop& loop) {
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

// Types of the inputs; how they are opened and read; the loop, if there is one. `map`: what stands
// before the names of definitions.
std::string InputText(const std::string& map, const MapBody& body,
                      const std::vector<Tensor>& inputs, const MapVariant& variant,
                      const Loop& loop) {
  std::string types, arguments, opens, positions, values, members;
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
  std::string text = types;
  if (!inputs.empty()) text += "#define C X0_C\n#define U X0_U\n";
  if (variant.loops) {
    positions += LoopPositions(variant, loop);
    text += "typedef struct { " + std::string(variant.wide ? "ulong" : "uint") + " dims[" +
            N(loop.dims.size()) + "];" + members + " } Loop;\n";
  }
  return text + "#define LENGTH " + (variant.wide ? "ulong" : "uint") + "\n#define " + map +
         "ARGUMENTS " + arguments + "\n#define " + map + "OPENS " + opens + "\n#define " + map +
         "POSITIONS " + positions + "\n#define " + map + "VALUES " + values + "\n#define " + map +
         "BODY " + body.body + "\n";
}

std::string Prologue(const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
                     const MapVariant& variant, const Loop& loop) {
  std::string numbers, text = DefineType("O", TypeOf(out.type));
  for (size_t k = 0; k < body.numbers.size(); ++k) numbers += ", const long n" + N(k);
  text += InputText("", body, inputs, variant, loop) + "#define NUMBERS " + numbers + "\n";
  if (variant.loops)
    text += "#define LOOP Loop\n#define COLUMNS loop.dims[" + N(loop.dims.size() - 1) + "]\n";
  if (variant.rows) text += "#define ROWS\n";
  if (!body.report.empty()) text += "#define REPORTS\n";
  return text + "#define STEPS " + N(static_cast<size_t>(variant.steps)) + "\n";
}

// All that InputText reads.
void AddInputs(const MapBody& body, const std::vector<Tensor>& inputs, const MapVariant& variant,
               const Loop& loop, KernelKey* key) {
  key->Number(static_cast<int64_t>(inputs.size()));
  for (size_t k = 0; k < inputs.size(); ++k)
    key->Number(inputs[k].type).Number(static_cast<int64_t>(variant.ways[k]));
  key->Number(static_cast<int64_t>(loop.dims.size())).Number(variant.wide).Text(body.body);
}

// All that Prologue reads.
KernelKey KeyOf(const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
                const MapVariant& variant, const Loop& loop) {
  KernelKey key("map");
  AddInputs(body, inputs, variant, loop, &key);
  key.Number(out.type).Number(variant.rows).Number(variant.steps);
  key.Number(static_cast<int64_t>(body.numbers.size())).Number(body.report.empty());
  return key;
}

}  // namespace

void RunMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
            Loop loop) {
  if (out.count == 0) return;
  loop.Collapse();
  const MapVariant variant = Choose(call.device(), loop, out.count);
  Launch launch(call, KeyOf(body, inputs, out, variant, loop), [&] {
    return Source{"map.cl", Prologue(body, inputs, out, variant, loop), "map"};
  });
  for (const Tensor& input : inputs) launch.Memory(input);
  launch.Memory(out);
  for (const int64_t number : body.numbers) launch.Value(cl_long{number});
  launch.Length(out.count, variant.wide);
  if (variant.loops) launch.Positions(loop, variant.wide);
  if (!body.report.empty()) launch.Errors(call.device().errors().NumberOf(body.report));
  if (variant.rows) return launch.RunRows(loop.dims.back(), out.count / loop.dims.back());
  launch.Run((out.count + variant.steps - 1) / variant.steps);
}

// Leading dimensions and those of a row by themselves: none is merged with one of the other kind.
MapRows::MapRows(Device& device, const MapBody& body, std::vector<Tensor> inputs,
                 const Tensor& elements, size_t row_dims)
    : body_(body), inputs_(std::move(inputs)), elements_(elements) {
  const size_t rank = elements_.dims.size(), leading = rank - row_dims;
  Loop rows, columns;
  for (size_t d = 0; d < rank; ++d)
    (d < leading ? rows : columns).dims.push_back(elements_.dims[d]);
  length_ = Count(columns.dims);
  for (const Tensor& input : inputs_) {
    const Dims strides = BroadcastStrides(elements_.dims, input.dims);
    const auto row = strides.begin() + static_cast<std::ptrdiff_t>(leading);
    rows.strides.emplace_back(strides.begin(), row);
    columns.strides.emplace_back(row, strides.end());
  }
  rows.Collapse();
  columns.Collapse();
  fits_ = columns.dims.size() <= 1;
  if (!fits_) return;
  loop_ = std::move(rows);
  loop_.dims.push_back(length_);
  for (size_t k = 0; k < inputs_.size(); ++k)
    loop_.strides[k].push_back(columns.dims.empty() ? 0 : columns.strides[k][0]);
  variant_ = Choose(device, loop_, elements_.count);
}

void MapRows::AddTo(KernelKey* key) const {
  opencl::AddInputs(body_, inputs_, variant_, loop_, key);
  key->Number(elements_.type);
}

std::string MapRows::Prologue() const {
  return DefineType("M", TypeOf(elements_.type)) +
         InputText("MAP_", body_, inputs_, variant_, loop_) + "#define MAPPED\n#define MAP_LOOP " +
         (variant_.loops ? ", const Loop loop" : "") +
         "\n#define MAP_ELEMENT(at, to) { const LENGTH column = at; const LENGTH i = (LENGTH)row * "
         "length + column; MAP_POSITIONS MAP_VALUES M_C r; MAP_BODY to = r; }\n";
}

void MapRows::AddInputs(Launch* launch) const {
  for (const Tensor& input : inputs_) launch->Memory(input);
}

void MapRows::AddLoop(Launch* launch) const {
  if (variant_.loops) launch->Positions(loop_, variant_.wide);
}

void FillWith(Call& call, const Tensor& target, const std::string& expression) {
  RunMap(call, {"r = " + expression + ";"}, {}, target, {{target.count}, {}});
}

void RunBroadcastMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs,
                     const Tensor& out) {
  std::vector<Dims> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.dims);
  RunMap(call, body, inputs, out, BroadcastLoop(out.dims, shapes));
}

}  // namespace opencl

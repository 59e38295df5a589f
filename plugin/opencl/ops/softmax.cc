// Softmax over the last dimension, and the losses that use it.

#include "../base/launch.h"
#include "../base/registry.h"
#include "../base/report.h"
#include "../base/strided.h"
#include "families.h"
#include "row_ends.h"

namespace opencl {
namespace {

struct SoftmaxRow {
  OpRow row;
  bool log = false;
};

struct Shape {
  TF_DataType type;
  int64_t rows, length;
  bool gpu, log;
  TF_DataType labels = TF_FLOAT;

  size_t group() const { return !gpu ? size_t{1} : length > 512 ? size_t{256} : size_t{64}; }
};

std::string SoftmaxText(const Shape& shape) {
  return DefineType("X", TypeOf(shape.type)) + DefineType("L", TypeOf(shape.labels)) +
         "#define GROUP " + std::to_string(shape.group()) + "\n#define LANES " +
         (shape.gpu ? "1" : "16") + "\n" + (shape.log ? "#define LOG\n" : "");
}

// Kernel `entry` of softmax.cl for rows of this shape.
Launch LaunchOf(Call& call, const char* entry, const Shape& shape, const Rows& rows = {}) {
  KernelKey key(entry);
  key.Number(shape.type).Number(shape.labels).Number(static_cast<int64_t>(shape.group()));
  key.Number(shape.log);
  rows.AddTo(&key);
  return Launch(call, key, [&] {
    return Source{"softmax.cl", SoftmaxText(shape) + rows.Prologue(), entry};
  });
}

void RunRows(Launch& launch, const Shape& shape) {
  launch.Run({static_cast<size_t>(shape.rows) * shape.group(), 1, 1}, {shape.group(), 1, 1});
}

class Softmax {
 public:
  Softmax(const Construction&, const SoftmaxRow& row) : log_(row.log) {}
  void Compute(Call& call) const {
    const Tensor x = call.In(0);
    if (x.rank() < 1) Refuse("logits must have >= 1 dimension, got " + ShapeText(x.dims));
    RunSoftmax(call, {x}, log_, call.OutLike(0, x.dims, {0}));
  }

 private:
  const bool log_;
};

class CrossEntropy {
 public:
  CrossEntropy(const Construction&, const SoftmaxRow&) {}
  void Compute(Call& call) const {
    const Tensor logits = call.In(0), labels = call.In(1);
    const Dims dims = Broadcast(logits.dims, labels.dims);
    if (dims.size() != 2) {
      Refuse(
          "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional, "
          "not " +
          ShapeText(dims));
    }
    const Tensor loss = call.Out(0, {dims[0]});
    const Tensor gradient = call.Out(1, dims);
    if (gradient.count == 0) return Clear(call, loss);  // rows of no classes lose nothing
    for (const Tensor& operand : {logits, labels}) {
      if (operand.rank() != 2 || operand.dims[1] != dims[1]) {
        NotImplemented("SoftmaxCrossEntropyWithLogits of shapes " + ShapeText(logits.dims) +
                       " and " + ShapeText(labels.dims) + " on an OpenCL device");
      }
    }
    const Shape shape{logits.type, dims[0], dims[1], call.device().is_gpu(), false};
    Launch launch = LaunchOf(call, "cross_entropy", shape);
    launch.Memory(logits).Memory(labels).Memory(loss).Memory(gradient).Int(shape.length);
    launch.Int(logits.dims[0] == 1 ? 0 : dims[1]).Int(labels.dims[0] == 1 ? 0 : dims[1]);
    RunRows(launch, shape);
  }
};

class SparseCrossEntropy {
 public:
  SparseCrossEntropy(const Construction& node, const SoftmaxRow& row)
      : node_(node.NodeText(row.row.op)) {}
  void Compute(Call& call) const {
    const Tensor logits = call.In(0), labels = call.In(1);
    if (logits.rank() != 2) Refuse("logits must be 2-D, but got shape " + ShapeText(logits.dims));
    if (labels.rank() != 1) Refuse("labels must be 1-D, but got shape " + ShapeText(labels.dims));
    if (labels.dims[0] != logits.dims[0]) {
      Refuse("logits and labels must have the same first dimension, got logits shape " +
             ShapeText(logits.dims) + " and labels shape " + ShapeText(labels.dims));
    }
    if (logits.dims[1] == 0) {
      Refuse("Must have at least one class, but got logits shape " + ShapeText(logits.dims));
    }
    const Tensor loss = call.Out(0, {logits.dims[0]});
    const Tensor gradient = call.Out(1, logits.dims);
    if (loss.count == 0) return;
    const Shape shape{logits.type, logits.dims[0], logits.dims[1], call.device().is_gpu(),
                      false,       labels.type};
    Launch launch = LaunchOf(call, "sparse_cross_entropy", shape);
    launch.Memory(logits).Memory(labels).Memory(loss).Memory(gradient).Int(shape.length);
    launch.Errors(report_.Number(call.device().errors(), {shape.length}, [&] {
      return "Received a label value of %lld which is outside the valid range of [0, " +
             std::to_string(shape.length) + ") in " + node_;
    }));
    RunRows(launch, shape);
  }

 private:
  const std::string node_;
  const Report report_;
};

constexpr SoftmaxRow kSoftmax[] = {{{"Softmax", kFloats}}, {{"LogSoftmax", kFloats}, true}};
constexpr SoftmaxRow kLoss[] = {{{"SoftmaxCrossEntropyWithLogits", kFloats}}};
constexpr SoftmaxRow kSparseLoss[] = {{{"SparseSoftmaxCrossEntropyWithLogits", kFloats}}};

}  // namespace

void RunSoftmax(Call& call, const Rows& rows, bool log, const Tensor& out) {
  if (out.count == 0) return;
  const Shape shape{out.type, out.count / out.dims.back(), out.dims.back(), call.device().is_gpu(),
                    log};
  Launch launch = LaunchOf(call, "softmax", shape, rows);
  rows.AddInputs(&launch);
  launch.Memory(out).Int(shape.length);
  rows.AddLoop(&launch);
  RunRows(launch, shape);
}

void RegisterSoftmax() {
  RegisterTable<Softmax, kSoftmax>();
  RegisterTable<CrossEntropy, kLoss>();
  RegisterTable<SparseCrossEntropy, kSparseLoss>();
}

}  // namespace opencl

// Blocks of pixels that become channels or batches, and back.

#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"

namespace opencl {
namespace {

// Spatial blocks and depth change places: [n, h, w, c], [n, h/b, w/b, b*b*c]; all are permutations
// of [n, h/b, b, w/b, b, c].
class BlockDepth {
 public:
  struct Row {
    OpRow row;
    bool to_depth;
  };
  BlockDepth(const Construction& node, const Row& row)
      : to_depth_(row.to_depth),
        block_(node.Int("block_size")),
        format_(node.String("data_format")) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    if (format_ != "NHWC")
      NotImplemented("SpaceToDepth or DepthToSpace with data_format " + format_);
    if (in.rank() != 4) Refuse("Input rank should be: 4 instead of: " + std::to_string(in.rank()));
    const int64_t b = block_, n = in.dims[0], h = in.dims[1], w = in.dims[2], c = in.dims[3];
    Tensor parts = in;
    if (to_depth_) {
      if (h % b != 0 || w % b != 0) {
        Refuse("Image width and height should be divisible by block_size: " + std::to_string(b));
      }
      parts.dims = {n, h / b, b, w / b, b, c};
      const Tensor out = call.Out(0, {n, h / b, w / b, b * b * c});
      Permute(call, parts, {0, 1, 3, 2, 4, 5}, out);
    } else {
      if (c % (b * b) != 0) {
        Refuse("Input depth dimension " + std::to_string(c) +
               " should be divisible by block_size * block_size: " + std::to_string(b * b));
      }
      parts.dims = {n, h, w, b, b, c / (b * b)};
      const Tensor out = call.Out(0, {n, h * b, w * b, c / (b * b)});
      Permute(call, parts, {0, 1, 3, 2, 4, 5}, out);
    }
  }

 private:
  const bool to_depth_;
  const int64_t block_;
  const std::string format_;
};

// Cuts [n, height, width, ...] into blocks that become batches, after padding; or puts such batches
// together and crops. Both are permutations of [blocks..., n, height / block, ..., rest].
class SpaceBatch {
 public:
  struct Row {
    OpRow row;
    bool to_batch;
  };
  SpaceBatch(const Construction&, const Row& row) : op_(row.row.op), to_batch_(row.to_batch) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> blocks = call.HostInts(1), edges = call.HostInts(2);
    const size_t count = blocks.size();
    if (in.dims.size() < 1 + count || edges.size() != 2 * count) {
      Refuse(std::string(op_) + ": input rank should be >= " + std::to_string(1 + count) +
             " and there must be two edges for each of " + std::to_string(count) + " blocks");
    }
    for (size_t i = 0; i < 2 * count; ++i) {
      if (edges[i] < 0 || blocks[i / 2] < 1)
        Refuse(std::string(op_) + ": blocks must be positive, paddings and crops non-negative");
    }
    if (to_batch_) {
      ToBatch(call, in, blocks, edges);
    } else {
      FromBatch(call, in, blocks, edges);
    }
  }

 private:
  void ToBatch(Call& call, const Tensor& in, const std::vector<int64_t>& blocks,
               const std::vector<int64_t>& edges) const {
    const size_t count = blocks.size();
    Tensor padded = in;
    Dims dims = {Times(in.dims[0], CheckedCount(blocks))}, split = {in.dims[0]};
    for (size_t d = 0; d < count; ++d) {
      padded.dims[1 + d] = Plus(padded.dims[1 + d], Plus(edges[2 * d], edges[2 * d + 1]));
      if (padded.dims[1 + d] % blocks[d] != 0) {
        Refuse("padded_shape[" + std::to_string(d) + "]=" + std::to_string(padded.dims[1 + d]) +
               " is not divisible by block_shape[" + std::to_string(d) +
               "]=" + std::to_string(blocks[d]));
      }
      dims.push_back(padded.dims[1 + d] / blocks[d]);
      split.insert(split.end(), {padded.dims[1 + d] / blocks[d], blocks[d]});
    }
    AddRest(in, count, &dims, &split);
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    padded.count = Count(padded.dims);
    if (padded.count != in.count) {
      padded.data = call.Temp(in.type, padded.dims).data;
      Clear(call, padded);
      const Dims strides = RowMajorStrides(padded.dims);
      int64_t at = 0;
      for (size_t d = 0; d < count; ++d) at += edges[2 * d] * strides[1 + d];
      CopyStrided(call, in, 0, padded, at, BoxLoop(in.dims, in.dims, padded.dims));
    }
    padded.dims = split;
    std::vector<int> order;
    for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int>(2 + 2 * d));
    order.push_back(0);
    for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int>(1 + 2 * d));
    for (size_t d = 1 + 2 * count; d < split.size(); ++d) order.push_back(static_cast<int>(d));
    Permute(call, padded, order, out);
  }

  void FromBatch(Call& call, const Tensor& in, const std::vector<int64_t>& blocks,
                 const std::vector<int64_t>& edges) const {
    const size_t count = blocks.size();
    const int64_t product = CheckedCount(blocks);
    if (in.dims[0] % product != 0) {
      Refuse("Input batch dimension (" + std::to_string(in.dims[0]) +
             ") is not divisible by product of block sizes (" + std::to_string(product) + ")");
    }
    Tensor whole = in, parts = in;
    parts.dims = blocks;
    parts.dims.push_back(in.dims[0] / product);
    Dims joined = {in.dims[0] / product};
    std::vector<int> order = {static_cast<int>(count)};
    for (size_t d = 0; d < count; ++d) {
      parts.dims.push_back(in.dims[1 + d]);
      joined.push_back(Times(in.dims[1 + d], blocks[d]));
      order.insert(order.end(), {static_cast<int>(count + 1 + d), static_cast<int>(d)});
    }
    for (size_t d = 1 + count; d < in.dims.size(); ++d) {
      order.push_back(static_cast<int>(parts.dims.size()));
      parts.dims.push_back(in.dims[d]);
      joined.push_back(in.dims[d]);
    }
    Dims dims = joined;
    const Dims strides = RowMajorStrides(joined);
    int64_t at = 0;
    for (size_t d = 0; d < count; ++d) {
      dims[1 + d] -= Plus(edges[2 * d], edges[2 * d + 1]);
      if (dims[1 + d] < 0) Refuse(std::string(op_) + ": cropped size must be non-negative");
      at += edges[2 * d] * strides[1 + d];
    }
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    if (dims == joined) return Permute(call, parts, order, out);
    whole.dims = joined;
    whole.data = call.Temp(in.type, joined).data;
    Permute(call, parts, order, whole);
    CopyStrided(call, whole, at, out, 0, BoxLoop(dims, joined, dims));
  }

  static void AddRest(const Tensor& in, size_t count, Dims* dims, Dims* split) {
    for (size_t d = 1 + count; d < in.dims.size(); ++d) {
      dims->push_back(in.dims[d]);
      split->push_back(in.dims[d]);
    }
  }

  const char* const op_;
  const bool to_batch_;
};

constexpr SpaceBatch::Row kSpaceBatch[] = {
    {{"SpaceToBatchND", kAll, "T", "block_shape paddings"}, true},
    {{"BatchToSpaceND", kAll, "T", "block_shape crops"}, false}};
constexpr BlockDepth::Row kBlocks[] = {{{"SpaceToDepth", kAll}, true},
                                       {{"DepthToSpace", kAll}, false}};

}  // namespace

void RegisterBlocks() {
  RegisterTable<BlockDepth, kBlocks>();
  RegisterTable<SpaceBatch, kSpaceBatch>();
}

}  // namespace opencl

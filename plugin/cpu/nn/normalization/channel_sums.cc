// Sums of a batch normalization's gradient over each channel: of dy, and of dy times the centred x.
#include "plugin/cpu/nn/normalization/channel_sums.h"

#include <algorithm>

#include "plugin/cpu/base/element.h"

namespace tenon::cpu {

void SumGradients(const ChannelLayout& layout, const GradientSums& g, Workers* workers) {
  // Threads share the channels, not the rows: one thread sums a whole channel in the order of
  // memory, whatever the number of threads. 16 channels make a piece worth reading of each row.
  constexpr int64_t kBlock = 16;
  const int64_t blocks = (layout.channels + kBlock - 1) / kBlock;
  workers->ParallelFor(blocks, 1, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kBlock, end = std::min(last * kBlock, layout.channels);
    std::fill(g.sum + begin, g.sum + end, 0.0);
    std::fill(g.centered + begin, g.centered + end, 0.0);
    VisitFloat(g.type, [&](auto element) {
      for (int64_t o = 0; o < layout.outer; ++o) {
        layout.ForEach(o, begin, end, [&](int64_t c, int64_t at) {
          const double dy = element.template As<double>(g.dy, at);
          g.sum[c] += dy;
          g.centered[c] += dy * (element.template As<double>(g.x, at) - g.mean[c]);
        });
      }
    });
  });
}

}  // namespace tenon::cpu

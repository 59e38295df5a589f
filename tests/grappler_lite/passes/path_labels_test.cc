// Answers about paths, against those found by walking.
#include "grappler_lite/passes/dependency_optimization/path_labels.h"

#include <algorithm>
#include <functional>
#include <random>

#include "gtest/gtest.h"

namespace tenon {
namespace {

using Answer = PathLabels::Answer;
using Reads = std::vector<std::vector<int32_t>>;  // of each place, latest first

struct Count {
  int paths = 0, unknown = 0;
};

// Every edge is asked about. What is answered must be so.
Count Check(const Reads& reads) {
  const size_t size = reads.size();
  std::vector<int32_t> last(size, -1);
  for (size_t at = 0; at < size; ++at) {
    for (const int32_t in : reads[at]) last[in] = static_cast<int32_t>(at);
  }
  PathLabels labels(last, last);
  std::vector<std::vector<bool>> before(size, std::vector<bool>(size));
  std::vector<Answer> answers;
  Count count;
  for (size_t at = 0; at < size; ++at) {
    labels.Add(reads[at], answers);
    for (size_t i = 0; i < reads[at].size(); ++i) {
      const int32_t in = reads[at][i];
      count.unknown += answers[i] == Answer::kUnknown;
      count.paths += answers[i] == Answer::kPath;
      if (answers[i] != Answer::kUnknown) {
        EXPECT_EQ(answers[i] == Answer::kPath, before[at][in]) << in << " to " << at;
      }
      for (size_t p = 0; p < size; ++p) before[at][p] = before[at][p] || before[in][p];
      before[at][in] = true;
    }
  }
  return count;
}

void Arrange(std::vector<int32_t>& reads) {
  std::sort(reads.begin(), reads.end(), std::greater<>());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
}

TEST(PathLabels, KnowAllPathsOfGraphsThatAreNotWide) {
  std::mt19937 random(1);
  for (const int window : {2, 5, 20, 100, 600}) {
    Reads reads(600);
    for (int at = 1; at < 600; ++at) {
      const int from = std::max(0, at - window);
      for (int i = 0; i < 3; ++i) reads[at].push_back(from + random() % (at - from));
      Arrange(reads[at]);
    }
    const Count count = Check(reads);
    EXPECT_EQ(count.unknown, 0);
    EXPECT_GT(count.paths, 20);
  }
}

TEST(PathLabels, SayWhatTheyDoNotKnowOfWideOnes) {
  Reads reads(1000);
  for (int at = 400; at < 1000; ++at) {
    if (at > 400) reads[at] = {at - 1, at % 400};
    for (int in = 399; at == 400 && in >= 0; --in) reads[at].push_back(in);
  }
  const Count count = Check(reads);
  EXPECT_GT(count.paths, 300);
  EXPECT_GT(count.unknown, 0);
}

}  // namespace
}  // namespace tenon

// Summarizes class sizes in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

#include "key_table.hpp"

namespace kohorte {

struct SizeSummary {
  Count kept_rows = 0;
  Count kept_classes = 0;
  Count smallest_kept = 0;  // 0 if nothing is kept
  Count small_rows = 0;     // rows in classes of fewer than `least` rows, kept or not
};

inline SizeSummary summarize(std::span<const Count> sizes, std::span<const std::uint8_t> kept, Count least) {
  if (sizes.size() != kept.size()) throw std::invalid_argument("sizes and verdicts differ in number");
  constexpr Count kNone = std::numeric_limits<Count>::max();
  SizeSummary summary;
  Count smallest = kNone;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Count size = sizes[i];
    const bool stays = kept[i] != 0;
    summary.kept_rows += stays ? size : 0;
    summary.kept_classes += stays ? 1 : 0;
    smallest = std::min(smallest, stays ? size : kNone);
    summary.small_rows += size < least ? size : 0;
  }
  summary.smallest_kept = smallest == kNone ? 0 : smallest;
  return summary;
}

}  // namespace kohorte

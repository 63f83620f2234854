// A group of rows, and what it costs with one row less or more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "least_loss/axis.hpp"

namespace kohorte {

// A group of rows of a pool, and what its cells need to know to cost it with one row less or more.
class Cluster {
 public:
  static constexpr Code kNobody = Axis::kNone;

  Cluster(const Grouped& table, const std::vector<Code>& places, const std::vector<Code>& marks)
      : table_(&table), places_(&places), marks_(&marks), sides_(table.width()), sums_(table.width(), 0),
        counts_(table.width()), mark_counts_(table.needs.size()), different_(table.needs.size(), 0) {
    for (std::size_t a = 0; a < table.width(); ++a) {
      if (table.axes[a].counts()) counts_[a].assign(table.axes[a].length(), 0);
    }
  }

  const std::vector<Code>& rows() const { return rows_; }
  Count size() const { return static_cast<Count>(rows_.size()); }
  Cost cost() const { return cost_; }

  void add(Code row) {
    rows_.push_back(row);
    include(row);
    cost_ = cost(kNobody, kNobody);
  }

  void remove(Code row) {
    const std::vector<Code> rows = rows_;
    clear();
    for (const Code other : rows) {
      if (other == row) continue;
      rows_.push_back(other);
      include(other);
    }
    cost_ = cost(kNobody, kNobody);
  }

  void clear() {
    const std::size_t width = table_->width();
    for (const Code row : rows_) {
      for (std::size_t a = 0; a < width; ++a) {
        if (!counts_[a].empty()) counts_[a][(*places_)[row * width + a]] = 0;
      }
    }
    rows_.clear();
    std::fill(sides_.begin(), sides_.end(), Side{});
    std::fill(sums_.begin(), sums_.end(), 0);
    for (auto& counts : mark_counts_) counts.clear();
    std::fill(different_.begin(), different_.end(), 0);
    cost_ = 0;
  }

  // What the group costs without one row and with another one; either may be nobody.
  Cost cost(Code without, Code with) const {
    const std::size_t width = table_->width();
    const Code* out = without == kNobody ? nullptr : places_->data() + without * width;
    const Code* in = with == kNobody ? nullptr : places_->data() + with * width;
    const Count rows = size() - (out != nullptr ? 1 : 0) + (in != nullptr ? 1 : 0);
    Cost each = 0, mixed = 0;
    for (std::size_t a = 0; a < width; ++a) {
      switch (table_->axes[a].kind) {
        case Axis::kSet: each += of_set(a, out, in); break;
        case Axis::kMix: mixed += of_mix(a, out, in, rows); break;
        default: each += of_side(a, out, in);
      }
    }
    return rows * each + mixed;
  }

  // Whether the group has all that it must have, without one row and with another one.
  bool enough(Code without, Code with) const {
    const Count rows = size() - (without != kNobody ? 1 : 0) + (with != kNobody ? 1 : 0);
    if (rows < table_->least) return false;
    for (std::size_t r = 0; r < table_->needs.size(); ++r) {
      Count here = different_[r];
      const std::size_t needs = table_->needs.size();
      const Code out = without == kNobody ? kNobody : (*marks_)[without * needs + r];
      const Code in = with == kNobody ? kNobody : (*marks_)[with * needs + r];
      if (out != kNobody && mark_counts_[r][out] == 1) --here;
      if (in != kNobody && has(r, in) == (out == in ? 1U : 0U)) ++here;
      if (here < table_->needs[r]) return false;
    }
    return true;
  }

  bool new_mark(std::size_t r, Code row) const { return has(r, (*marks_)[row * table_->needs.size() + r]) == 0; }
  Count lacks(std::size_t r) const { return table_->needs[r] - different_[r]; }

 private:
  struct Side {
    Code low = Axis::kNone, next_low = Axis::kNone, at_low = 0;
    Code high = Axis::kNone, next_high = Axis::kNone, at_high = 0;
  };

  static Cost size_of(const Axis& axis, Code place) { return place == axis.missing ? 0 : axis.second[place]; }
  Code has(std::size_t r, Code mark) const { return mark < mark_counts_[r].size() ? mark_counts_[r][mark] : 0; }

  Cost of_set(std::size_t a, const Code* out, const Code* in) const {
    const Axis& axis = table_->axes[a];
    Cost sum = sums_[a];
    if (out != nullptr && counts_[a][out[a]] == 1) sum -= size_of(axis, out[a]);
    if (in != nullptr && counts_[a][in[a]] == (out != nullptr && out[a] == in[a] ? 1U : 0U)) {
      sum += size_of(axis, in[a]);
    }
    return axis.of_set(sum);
  }

  Cost of_mix(std::size_t a, const Code* out, const Code* in, Count rows) const {
    const std::vector<Cost>& costs = table_->axes[a].second;
    Cost sum = sums_[a];
    if (out == nullptr || in == nullptr || out[a] != in[a]) {
      if (out != nullptr) sum += costs[counts_[a][out[a]] - 1] - costs[counts_[a][out[a]]];
      if (in != nullptr) sum += costs[counts_[a][in[a]] + 1] - costs[counts_[a][in[a]]];
    }
    return costs[static_cast<std::size_t>(rows)] - sum;
  }

  Cost of_side(std::size_t a, const Code* out, const Code* in) const {
    const Axis& axis = table_->axes[a];
    const Side& side = sides_[a];
    Code low = side.low, high = side.high;
    if (out != nullptr) {
      if (out[a] == low && side.at_low == 1) low = side.next_low;
      if (out[a] == high && side.at_high == 1) high = side.next_high;
    }
    if (in != nullptr && in[a] != axis.missing) {
      low = low == Axis::kNone ? in[a] : std::min(low, in[a]);
      high = high == Axis::kNone ? in[a] : std::max(high, in[a]);
    }
    return axis.between(low, high);
  }

  void include(Code row) {
    const Code* places = places_->data() + row * table_->width();
    for (std::size_t a = 0; a < table_->width(); ++a) {
      const Axis& axis = table_->axes[a];
      if (axis.kind == Axis::kSet) {
        if (counts_[a][places[a]]++ == 0) sums_[a] += size_of(axis, places[a]);
      } else if (axis.kind == Axis::kMix) {
        const Code here = counts_[a][places[a]]++;
        sums_[a] += axis.second[here + 1] - axis.second[here];
      } else if (places[a] != axis.missing) {
        widen(sides_[a], places[a]);
      }
    }
    for (std::size_t r = 0; r < table_->needs.size(); ++r) {
      const Code mark = (*marks_)[row * table_->needs.size() + r];
      if (mark >= mark_counts_[r].size()) mark_counts_[r].resize(mark + 1, 0);
      different_[r] += mark_counts_[r][mark]++ == 0;
    }
  }

  static void widen(Side& side, Code place) {
    if (side.low == Axis::kNone || place < side.low) {
      side.next_low = side.low;
      side.low = place;
      side.at_low = 1;
    } else if (place == side.low) {
      ++side.at_low;
    } else {
      side.next_low = std::min(side.next_low, place);
    }
    if (side.high == Axis::kNone || place > side.high) {
      side.next_high = side.high;
      side.high = place;
      side.at_high = 1;
    } else if (place == side.high) {
      ++side.at_high;
    } else {
      side.next_high = side.next_high == Axis::kNone ? place : std::max(side.next_high, place);
    }
  }

  const Grouped* table_;
  const std::vector<Code>* places_;
  const std::vector<Code>* marks_;
  std::vector<Code> rows_;
  Cost cost_ = 0;
  std::vector<Side> sides_;
  std::vector<Cost> sums_;
  std::vector<std::vector<Code>> counts_;
  std::vector<std::vector<Code>> mark_counts_;
  std::vector<Count> different_;
};

}  // namespace kohorte

// Groups of a neighbourhood, improved pool by pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "least_loss/axis.hpp"
#include "least_loss/pool.hpp"

namespace kohorte {

// The cells of some groups, kept so that what one more row would cost is found fast in all of them. A mix counts here as
// the number of different positions.
class GroupCells {
 public:
  explicit GroupCells(const Grouped& table) : table_(table) {
    for (const Axis& axis : table.axes) {
      offsets_.push_back(words_);
      if (axis.counts()) words_ += (axis.length() + 63) / 64;
    }
  }

  void set(std::size_t group, const std::vector<Code>& rows) {
    const std::size_t width = table_.width();
    if (group >= sizes_.size()) {
      sizes_.resize(group + 1);
      cells_.resize(group + 1);
      lows_.resize((group + 1) * width);
      highs_.resize((group + 1) * width);
      sums_.resize((group + 1) * width);
      bits_.resize((group + 1) * words_);
    }
    Code* low = lows_.data() + group * width;
    Code* high = highs_.data() + group * width;
    Cost* sum = sums_.data() + group * width;
    std::uint64_t* bits = bits_.data() + group * words_;
    std::fill_n(low, width, Axis::kNone);
    std::fill_n(high, width, Axis::kNone);
    std::fill_n(sum, width, 0);
    std::fill_n(bits, words_, 0);
    for (const Code row : rows) {
      const Code* places = table_.row(row);
      for (std::size_t a = 0; a < width; ++a) {
        if (places[a] == table_.axes[a].missing) continue;
        if (!table_.axes[a].counts()) {
          low[a] = low[a] == Axis::kNone ? places[a] : std::min(low[a], places[a]);
          high[a] = high[a] == Axis::kNone ? places[a] : std::max(high[a], places[a]);
          continue;
        }
        std::uint64_t& word = bits[offsets_[a] + places[a] / 64];
        const std::uint64_t bit = std::uint64_t{1} << (places[a] % 64);
        if ((word & bit) == 0) sum[a] += size_of(table_.axes[a], places[a]);
        word |= bit;
      }
    }
    sizes_[group] = static_cast<Count>(rows.size());
    cells_[group] = 0;
    for (std::size_t a = 0; a < width; ++a) {
      const Axis& axis = table_.axes[a];
      cells_[group] += axis.counts() ? of_set(axis, sum[a]) : axis.between(low[a], high[a]);
    }
  }

  void drop_last() {
    sizes_.pop_back();
    cells_.pop_back();
    lows_.resize(lows_.size() - table_.width());
    highs_.resize(highs_.size() - table_.width());
    sums_.resize(sums_.size() - table_.width());
    bits_.resize(bits_.size() - words_);
  }

  // What a row would add to the cost of a group.
  Cost added(std::size_t group, const Code* places) const {
    const std::size_t width = table_.width();
    const Code* low = lows_.data() + group * width;
    const Code* high = highs_.data() + group * width;
    const Cost* sum = sums_.data() + group * width;
    const std::uint64_t* bits = bits_.data() + group * words_;
    Cost total = 0;
    for (std::size_t a = 0; a < width; ++a) {
      const Axis& axis = table_.axes[a];
      const Code place = places[a];
      if (axis.counts()) {
        const bool here = place == axis.missing || ((bits[offsets_[a] + place / 64] >> (place % 64)) & 1U) != 0;
        total += of_set(axis, here ? sum[a] : sum[a] + size_of(axis, place));
      } else if (place == axis.missing || low[a] == Axis::kNone) {
        total += low[a] == Axis::kNone && place != axis.missing ? axis.between(place, place)
                                                                : axis.between(low[a], high[a]);
      } else {
        total += axis.between(std::min(low[a], place), std::max(high[a], place));
      }
    }
    return (sizes_[group] + 1) * total - sizes_[group] * cells_[group];
  }

 private:
  static Cost size_of(const Axis& axis, Code place) {
    return axis.kind == Axis::kSet ? axis.second[place] : axis.second[2];
  }
  static Cost of_set(const Axis& axis, Cost sum) { return axis.kind == Axis::kSet ? axis.of_set(sum) : sum; }

  const Grouped& table_;
  std::size_t words_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<Count> sizes_;
  std::vector<Cost> cells_, sums_;
  std::vector<Code> lows_, highs_;
  std::vector<std::uint64_t> bits_;
};

// How many groups and rows a pool has at most, and how many pools are tried for each group.
struct Effort {
  std::size_t groups = 5;
  std::size_t rows = 32;
  std::size_t tries = 1;
};

// The groups of one neighbourhood, improved: takes a row and the groups to which it would add least, and groups their
// rows again; as often as there are groups, times `effort.tries`.
class Block {
 public:
  // Pools of more rows are left as they are: swaps of all pairs would take too long. Our choice.
  static constexpr std::size_t kRows = 4096;

  // `group_of` has a place for each row of the table; those of other neighbourhoods are not touched.
  Block(const Grouped& table, RowLists groups, std::vector<Code>& group_of)
      : table_(table), groups_(std::move(groups)), group_of_(group_of), cells_(table), pool_(table) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      rows_.insert(rows_.end(), groups_[g].begin(), groups_[g].end());
      settle(g);
    }
  }

  // The improved groups; up to `may_leave` rows are left out.
  RowLists run(const Effort& effort, std::size_t may_leave, std::uint64_t seed) {
    if (groups_.empty()) return groups_;
    Random random(seed);
    for (std::size_t left = groups_.size() * effort.tries; left > 0; --left) {
      const Code row = rows_[random.below(rows_.size())];
      if (group_of_[row] == Axis::kNone) continue;
      const auto chosen = around(row, effort);
      RowLists pooled;
      std::size_t rows = 0;
      for (const std::size_t g : chosen) {
        pooled.push_back(groups_[g]);
        rows += groups_[g].size();
      }
      if (rows > kRows) continue;
      if (auto found = pool_.improved(pooled, may_leave, random)) {
        for (const Code out : pool_.left_out()) {
          group_of_[out] = Axis::kNone;
          --may_leave;
        }
        exchange(chosen, std::move(*found));
      }
    }
    return std::move(groups_);
  }

 private:
  void settle(std::size_t group) {
    cells_.set(group, groups_[group]);
    for (const Code row : groups_[group]) group_of_[row] = static_cast<Code>(group);
  }

  // The group of a row, and those to which it would add least; as many as fit into a pool, but at least two.
  std::vector<std::size_t> around(Code row, const Effort& effort) {
    near_.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (g != group_of_[row]) near_.emplace_back(cells_.added(g, table_.row(row)), g);
    }
    const std::size_t most = std::min(near_.size(), effort.groups - 1);
    std::partial_sort(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(most), near_.end());
    std::vector<std::size_t> chosen{group_of_[row]};
    std::size_t rows = groups_[group_of_[row]].size();
    for (std::size_t i = 0; i < most; ++i) {
      rows += groups_[near_[i].second].size();
      if (rows > effort.rows && chosen.size() > 1) break;
      chosen.push_back(near_[i].second);
    }
    return chosen;
  }

  // Puts new groups in the places of old ones. If there are fewer, the last groups of all fill the gaps.
  void exchange(std::vector<std::size_t> chosen, RowLists found) {
    std::sort(chosen.begin(), chosen.end());
    for (; chosen.size() > found.size(); chosen.pop_back()) {
      const std::size_t gap = chosen.back();
      if (gap + 1 != groups_.size()) {
        groups_[gap] = std::move(groups_.back());
        settle(gap);
      }
      groups_.pop_back();
      cells_.drop_last();
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t g = i < chosen.size() ? chosen[i] : groups_.size();
      if (g == groups_.size()) groups_.emplace_back();
      groups_[g] = std::move(found[i]);
      settle(g);
    }
  }

  const Grouped& table_;
  RowLists groups_;
  std::vector<Code>& group_of_;
  GroupCells cells_;
  Pool pool_;
  std::vector<Code> rows_;
  std::vector<std::pair<Cost, std::size_t>> near_;
};

}  // namespace kohorte

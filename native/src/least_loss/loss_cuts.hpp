// Where to cut a set of rows in two so that its two parts cost least.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "cuts.hpp"
#include "least_loss/axis.hpp"

namespace kohorte {

// What a growing group costs.
class Growing {
 public:
  explicit Growing(const Grouped& table) : table_(table), sides_(table.width()), sums_(table.width()), counts_(table.width()) {
    for (std::size_t a = 0; a < table.width(); ++a) {
      if (table.axes[a].counts()) counts_[a].assign(table.axes[a].length(), 0);
    }
    own_.resize(table.width());
  }

  void clear(std::span<const Code> rows) {
    for (std::size_t a = 0; a < table_.width(); ++a) {
      sides_[a] = {Axis::kNone, Axis::kNone};
      sums_[a] = own_[a] = 0;
      if (counts_[a].empty()) continue;
      for (const Code row : rows) counts_[a][table_.row(row)[a]] = 0;
    }
    each_ = 0;
    rows_ = 0;
  }

  // Adds a row; returns the cost of the group.
  Cost add(Code row) {
    const Code* places = table_.row(row);
    ++rows_;
    Cost mixed = 0;
    for (std::size_t a = 0; a < table_.width(); ++a) {
      const Axis& axis = table_.axes[a];
      if (axis.kind == Axis::kMix) {
        const Code here = counts_[a][places[a]]++;
        sums_[a] += axis.second[here + 1] - axis.second[here];
        mixed += axis.second[rows_] - sums_[a];
      } else if (places[a] != axis.missing && widen(a, places[a])) {
        const Cost now = axis.kind == Axis::kSet ? axis.of_set(sums_[a]) : axis.between(sides_[a].first, sides_[a].second);
        each_ += now - own_[a];
        own_[a] = now;
      }
    }
    return static_cast<Cost>(rows_) * each_ + mixed;
  }

 private:
  // Tells whether the cell changed.
  bool widen(std::size_t a, Code place) {
    if (table_.axes[a].kind == Axis::kSet) {
      if (counts_[a][place]++ != 0) return false;
      sums_[a] += table_.axes[a].second[place];
      return true;
    }
    auto& [low, high] = sides_[a];
    if (low != Axis::kNone && low <= place && place <= high) return false;
    low = low == Axis::kNone ? place : std::min(low, place);
    high = high == Axis::kNone ? place : std::max(high, place);
    return true;
  }

  const Grouped& table_;
  std::vector<std::pair<Code, Code>> sides_;
  std::vector<Cost> sums_, own_;
  std::vector<std::vector<Code>> counts_;
  Cost each_ = 0;
  std::size_t rows_ = 0;
};

// Regions of rows as those of `Cutter`; a cut is proposed by what its two parts cost.
class LossCutter {
 public:
  // No part is smaller than this share of its region, so that the depth of the cuts stays small. Our choice.
  static constexpr std::size_t kShare = 16;

  LossCutter(Grouped table, bool relaxed)
      : table_((table.check(), std::move(table))), relaxed_(relaxed), cutter_(plain(table_)), growing_(table_) {
    std::size_t longest = 0;
    for (const Axis& axis : table_.axes) longest = std::max(longest, axis.length());
    starts_.resize(longest + 1);
  }

  std::vector<Code> ids() const { return cutter_.ids(); }

  // The next cut of each region after `attempts` refused cuts, the cheapest first: of every attribute, the cheapest cut
  // of all and the cheapest in the middle third.
  Cuts propose(std::span<const std::int64_t> begins, std::span<const std::int64_t> ends,
               std::span<const std::int64_t> attempts) {
    if (ends.size() != begins.size() || attempts.size() != begins.size()) {
      throw std::invalid_argument("regions and attempts do not fit together");
    }
    Cuts cuts;
    for (std::size_t region = 0; region < begins.size(); ++region) {
      if (begins[region] < 0 || ends[region] < begins[region] || static_cast<std::size_t>(ends[region]) > table_.rows()) {
        throw std::invalid_argument("a region beyond the rows");
      }
      const auto begin = static_cast<std::size_t>(begins[region]), end = static_cast<std::size_t>(ends[region]);
      collect(std::span(cutter_.ids()).subspan(begin, end - begin));
      const auto attempt = static_cast<std::size_t>(attempts[region]);
      const bool some = attempt < found_.size();
      cuts.attributes.push_back(some ? static_cast<std::int32_t>(std::get<1>(found_[attempt])) : -1);
      cuts.boundaries.push_back(some ? std::get<3>(found_[attempt]) : 0);
      cuts.left.push_back(some ? static_cast<Count>(std::get<2>(found_[attempt])) : 0);
    }
    return cuts;
  }

  void split(std::span<const std::int64_t> begins, std::span<const std::int64_t> ends,
             std::span<const std::int32_t> attributes, std::span<const Code> boundaries, std::span<const Count> left) {
    cutter_.split(begins, ends, attributes, boundaries, left);
  }

 private:
  using Found = std::tuple<Cost, std::size_t, std::size_t, Code>;  // cost, attribute, rows on the left, boundary

  static Cutter plain(const Grouped& table) {
    std::vector<std::vector<std::int64_t>> ticks;
    std::vector<std::vector<Code>> levels;
    for (const Axis& axis : table.axes) {
      ticks.emplace_back(axis.length());
      std::iota(ticks.back().begin(), ticks.back().end(), 0);
      levels.emplace_back(axis.length(), 0);
    }
    const std::vector<std::int64_t> weights(table.width(), 1);
    return {table.places, std::move(ticks), weights, std::move(levels), table.least, true};
  }

  void collect(std::span<const Code> rows) {
    found_.clear();
    const auto least = static_cast<std::size_t>(table_.least);
    if (rows.size() < 2 * least) return;
    const std::size_t smallest = std::max(least, rows.size() / kShare);
    for (std::size_t a = 0; a < table_.width(); ++a) {
      sort(rows, a);
      measure(rows);
      std::size_t best = 0, middle = 0;  // none, which no cut is
      for (std::size_t left = smallest; left <= rows.size() - smallest; ++left) {
        if (!relaxed_ && place(left - 1, a) == place(left, a)) continue;
        const auto better = [&](std::size_t than) { return than == 0 || cost_[left] < cost_[than]; };
        if (better(best)) best = left;
        if (3 * left >= rows.size() && 3 * left <= 2 * rows.size() && better(middle)) middle = left;
      }
      if (best != 0) found_.emplace_back(cost_[best], a, best, place(best, a));
      if (middle != 0 && middle != best) found_.emplace_back(cost_[middle], a, middle, place(middle, a));
    }
    std::sort(found_.begin(), found_.end());
  }

  Code place(std::size_t index, std::size_t a) const { return table_.row(order_[index])[a]; }

  // Sorts by the places of an attribute; rows at the same place keep their order.
  void sort(std::span<const Code> rows, std::size_t a) {
    const std::size_t length = table_.axes[a].length();
    order_.assign(rows.begin(), rows.end());
    if (length > 2 * rows.size()) {
      std::stable_sort(order_.begin(), order_.end(),
                       [&](Code one, Code two) { return table_.row(one)[a] < table_.row(two)[a]; });
      return;
    }
    std::fill_n(starts_.begin(), length + 1, 0);
    for (const Code row : rows) ++starts_[table_.row(row)[a] + 1];
    for (std::size_t at = 1; at <= length; ++at) starts_[at] += starts_[at - 1];
    for (const Code row : rows) order_[starts_[table_.row(row)[a]]++] = row;
  }

  // What the first rows and the others cost together, for each number of first rows.
  void measure(std::span<const Code> rows) {
    const std::size_t size = order_.size();
    cost_.assign(size + 1, 0);
    growing_.clear(rows);
    for (std::size_t index = 0; index < size; ++index) cost_[index + 1] += growing_.add(order_[index]);
    growing_.clear(rows);
    for (std::size_t index = size; index > 0; --index) cost_[index - 1] += growing_.add(order_[index - 1]);
    growing_.clear(rows);
  }

  Grouped table_;
  bool relaxed_;
  Cutter cutter_;
  Growing growing_;
  std::vector<Found> found_;
  std::vector<Code> order_;
  std::vector<std::size_t> starts_;
  std::vector<Cost> cost_;
};

}  // namespace kohorte

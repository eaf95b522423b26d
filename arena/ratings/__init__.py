"""Ratings and standings, from results alone: this room knows no game, bot, store or wire format.

`fit` rates all results at once and is the rating of record; `fold`, the only module that imports the
package `trueskill`, rates them one by one while they come. The package's code is free software, but the
TrueSkill name and method are Microsoft's: according to its documentation, others may use them for
non-commercial projects only. So this is for non-commercial tournaments; for others, replace these two.
"""

"""Why a gradient is what it is: the rules applied, the noise that enters and its path, the reason for every zero.

Reads graphs, traces and verdicts; changes nothing, prints nothing.
"""
